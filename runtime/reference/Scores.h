// SPDX-License-Identifier: Apache-2.0
// The last step of the classifiers and regressors of ai.onnx.ml: the five transforms of scores.
#pragma once

#include "runtime/reference/Kernel.h"

namespace tilewright::reference {

/// What a classifier with one score writes in front of it: nothing, 1 - score, or -score. With LOGISTIC the latter two
/// are the same.
enum class SecondScore { none, complement, opposite };

/// Appends a row of scores after `transform` (NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT).
void writeScores(std::vector<double> scores, const std::string &transform, SecondScore second, std::vector<double> &to);

} // namespace tilewright::reference
