// SPDX-License-Identifier: Apache-2.0
// Handlers of Fourier transforms and of convolutions with a state.
#pragma once

#include "frontend/builder/NodeBuilder.h"

namespace tilewright::ops {

void cosineWindow(NodeBuilder &), dft(NodeBuilder &), stft(NodeBuilder &), causalConvWithState(NodeBuilder &);

} // namespace tilewright::ops
