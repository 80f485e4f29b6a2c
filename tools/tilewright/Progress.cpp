// SPDX-License-Identifier: Apache-2.0
// Draws progress: "compile [##########                    ] 35 % tile".
#include "tools/tilewright/Progress.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace tilewright {

static constexpr int width = 30;

/// Whether stderr is a terminal that understands carriage returns.
static bool canDraw() {
  const char *kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) && !(kind && std::string_view(kind) == "dumb");
}

/// Ignores errors, unlike fmt::print, which throws if the terminal is gone.
static void draw(std::string_view line, size_t columns) {
  std::fputs(fmt::format("\r{:<{}}{}", line, columns, line.empty() ? "\r" : "").c_str(), stderr);
  std::fflush(stderr);
}

Progress::Progress(std::string what, bool wanted) : what(std::move(what)), terminal(wanted && canDraw()) {}

Progress::~Progress() {
  if (!shown.empty())
    draw("", shown.size());
}

void Progress::show(double share, std::string_view detail) {
  if (!terminal)
    return;
  int percent = static_cast<int>(std::clamp(share, 0.0, 1.0) * 100), filled = percent * width / 100;
  std::string line = fmt::format("{} [{:#<{}}{:{}}] {} %{}{}", what, "", filled, "", width - filled, percent,
                                 detail.empty() ? "" : " ", detail);
  if (line == shown)
    return;
  draw(line, shown.size());
  shown = std::move(line);
}

void StepProgress::begin(std::string_view step) {
  progress.show(static_cast<double>(begun) / steps,
                fmt::format("{} ({} of {})", step, std::min(begun + 1, steps), steps));
  ++begun;
}

} // namespace tilewright
