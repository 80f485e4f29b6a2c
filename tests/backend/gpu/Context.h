// SPDX-License-Identifier: Apache-2.0
// A function with a stack of its own, which gives way in its middle and goes on there later. As swapcontext, but
// without that one's system calls, which save a signal mask with every switch: threads of an imitated block switch
// wherever they wait for each other.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <memory>
#include <ucontext.h>

namespace tilewright::test {

class Context {
public:
  /// The next `resume` calls `main` on this context's stack. `main` must not return.
  void start(void (*main)());
  /// Runs the context until it gives way.
  void resume();
  /// Called on the context's own stack: `resume` returns.
  void giveWay();

private:
  static constexpr size_t stackBytes = 512 << 10;
  std::unique_ptr<std::byte[]> stack_{new std::byte[stackBytes]}; // not zeroed: most of it is never touched
  ucontext_t first_;
  bool hasStarted_ = false;
  jmp_buf here_, resumer_;
};

} // namespace tilewright::test
