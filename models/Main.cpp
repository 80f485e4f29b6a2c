// tilewright-models OUT [NAME...]: writes the demo models.
#include <fmt/format.h>

int main() { fmt::print("no demo models yet\n"); }
