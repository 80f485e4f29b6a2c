// SPDX-License-Identifier: Apache-2.0
// Arithmetic that matches ONNX Runtime's kernels bit by bit. Normally the last bit does not matter. But where the
// result is quantized next, as in each step of a quantized LSTM, it decides which of two integers comes out, and the
// error grows from step to step.
#pragma once

#include "frontend/builder/NodeBuilder.h"

namespace tilewright::ops {

/// Prevents contraction of x with what follows: a product that is then added to something is rounded twice, as by a
/// multiplication and an addition, and not once, as by a fused multiply-add.
Term roundedFirst(NodeBuilder &b, Term x);

/// Rational approximations of these functions with an error below 4e-7. The coefficients are those of ONNX Runtime's
/// MLAS (onnxruntime/core/mlas/lib/logistic.cpp and tanh.cpp, which took them from Eigen). The last two parameters are
/// unused: they give the functions the type that the table of activations needs.
Term rationalSigmoid(NodeBuilder &b, Term x, double = 0, double = 0);
Term rationalTanh(NodeBuilder &b, Term x, double = 0, double = 0);

} // namespace tilewright::ops
