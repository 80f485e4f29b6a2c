// Arithmetic as ONNX Runtime's kernels do it, bit by bit. Elsewhere a last bit does not matter; where a quantization
// follows, as in each step of a recurrence of bytes, it decides between two integers, and the next step is far from
// what it was.
#pragma once

#include "frontend/builder/NodeBuilder.h"

namespace tilewright::ops {

/// x, which is rounded before anything else is done with it: a product that is added to something has two roundings,
/// not one.
Term roundedFirst(NodeBuilder &b, Term x);

/// The quotients of polynomials that stand for these functions, within 4e-7 of them; their coefficients are those of
/// ONNX Runtime's MLAS (onnxruntime/core/mlas/lib/logistic.cpp and tanh.cpp, which take them from Eigen). The two last
/// parameters are none: as a table of activations wants it.
Term rationalSigmoid(NodeBuilder &b, Term x, double = 0, double = 0);
Term rationalTanh(NodeBuilder &b, Term x, double = 0, double = 0);

} // namespace tilewright::ops
