// ai.onnx.ml: what classifiers and regressors do with scores at the end: class labels, and the five transforms.
#pragma once

#include "runtime/reference/Kernel.h"

namespace tilewright::reference {

/// How a classifier with one score writes the second: not at all, or as 1 - score or -score in front. LOGISTIC makes no
/// difference between the latter two.
enum class SecondScore { none, complement, opposite };

/// Appends a row of scores after `transform` (NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT).
void writeScores(std::vector<double> scores, const std::string &transform, SecondScore second, std::vector<double> &to);

/// The labels of a classifier; strings are not held by any tensor yet.
std::vector<int64_t> labelsOf(Call &call, std::string_view integers, std::string_view strings);

} // namespace tilewright::reference
