// A progress bar on stderr, on a terminal only.
#pragma once

#include <string>

namespace tilewright {

class Progress {
public:
  explicit Progress(std::string what);
  ~Progress(); // clears the line
  /// `share` from 0 to 1.
  void show(double share);

private:
  std::string what;
  bool terminal;
  int shown = -1; // per cent
};

} // namespace tilewright
