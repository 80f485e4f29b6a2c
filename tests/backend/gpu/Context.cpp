// SPDX-License-Identifier: Apache-2.0
#include "tests/backend/gpu/Context.h"

using namespace tilewright::test;

void Context::start(void (*main)()) {
  getcontext(&first_);
  first_.uc_stack = {stack_.get(), 0, stackBytes}; // ss_sp, ss_flags, ss_size
  first_.uc_link = nullptr;
  makecontext(&first_, main, 0);
  hasStarted_ = false;
}

void Context::resume() {
  if (_setjmp(resumer_))
    return;
  if (hasStarted_)
    _longjmp(here_, 1);
  hasStarted_ = true;
  setcontext(&first_);
}

void Context::giveWay() {
  if (!_setjmp(here_))
    _longjmp(resumer_, 1);
}
