// A progress bar on stderr, on a terminal only. It has no colours, so that NO_COLOR has nothing to take away.
#pragma once

#include <string>
#include <string_view>

namespace tilewright {

class Progress {
public:
  explicit Progress(std::string what, bool wanted = true);
  ~Progress(); // clears the line
  Progress(const Progress &) = delete;
  /// `share` from 0 to 1; `detail` says what is going on.
  void show(double share, std::string_view detail = "");

private:
  std::string what;
  bool terminal;
  std::string shown; // the line as it stands
};

/// Counts the steps of a known number, one call each, as they begin.
class StepProgress {
public:
  StepProgress(std::string what, size_t steps, bool wanted = true) : progress(std::move(what), wanted), steps(steps) {}
  void begin(std::string_view step);

private:
  Progress progress;
  size_t steps, begun = 0;
};

} // namespace tilewright
