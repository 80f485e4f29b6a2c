// Draws progress: "measuring [#######             ] 35 %".
#include "backend/driver/Progress.h"

#include <fmt/format.h>
#include <unistd.h>

namespace tilewright {

static constexpr int width = 30;

Progress::Progress(std::string what) : what(std::move(what)), terminal(isatty(STDERR_FILENO)) {}

Progress::~Progress() {
  if (terminal && shown >= 0)
    fmt::print(stderr, "\r{:{}}\r", "", what.size() + width + 10);
}

void Progress::show(double share) {
  int percent = static_cast<int>(share * 100);
  if (!terminal || percent == shown)
    return;
  shown = percent;
  int filled = percent * width / 100;
  fmt::print(stderr, "\r{} [{:#<{}}{:{}}] {} %", what, "", filled, "", width - filled, percent);
  std::fflush(stderr);
}

} // namespace tilewright
