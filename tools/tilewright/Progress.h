// SPDX-License-Identifier: Apache-2.0
// A progress bar on stderr, only on a terminal. It has no colours, so NO_COLOR does not matter.
#pragma once

#include <string>
#include <string_view>

namespace tilewright {

class Progress {
public:
  explicit Progress(std::string what, bool wanted = true);
  ~Progress(); // clears the line
  Progress(const Progress &) = delete;
  /// `share` is from 0 to 1, `detail` names the current step.
  void show(double share, std::string_view detail = "");

private:
  std::string what;
  bool terminal;
  std::string shown; // the current line
};

/// Progress over a known number of steps; call begin() at the start of each.
class StepProgress {
public:
  StepProgress(std::string what, size_t steps, bool wanted = true) : progress(std::move(what), wanted), steps(steps) {}
  void begin(std::string_view step);

private:
  Progress progress;
  size_t steps, begun = 0;
};

} // namespace tilewright
