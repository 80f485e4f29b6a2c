// Draws progress: "compile [##########                    ] 35 % tile".
#include "backend/driver/Progress.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace tilewright {

static constexpr int width = 30;

/// A terminal that can go back to the start of its line.
static bool canDraw() {
  const char *kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) && !(kind && std::string_view(kind) == "dumb");
}

Progress::Progress(std::string what) : what(std::move(what)), terminal(canDraw()) {}

Progress::~Progress() {
  if (!shown.empty())
    fmt::print(stderr, "\r{:{}}\r", "", shown.size());
}

void Progress::show(double share, std::string_view detail) {
  if (!terminal)
    return;
  int percent = static_cast<int>(std::clamp(share, 0.0, 1.0) * 100), filled = percent * width / 100;
  std::string line =
      fmt::format("{} [{:#<{}}{:{}}] {} %{}{}", what, "", filled, "", width - filled, percent, detail.empty() ? "" : " ", detail);
  if (line == shown)
    return;
  fmt::print(stderr, "\r{:<{}}", line, shown.size());
  std::fflush(stderr);
  shown = std::move(line);
}

void StepProgress::begin(std::string_view step) {
  progress.show(static_cast<double>(begun) / steps, fmt::format("{} ({} of {})", step, std::min(begun + 1, steps), steps));
  ++begun;
}

} // namespace tilewright
