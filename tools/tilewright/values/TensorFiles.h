// SPDX-License-Identifier: Apache-2.0
// Tensors in files: ONNX test data (input_0.pb) and NumPy (.npy), by name or by position.
#pragma once

#include "runtime/plan/Plan.h"
#include "tools/tilewright/values/NamedTensor.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tilewright {

/// Reads .pb (TensorProto) or .npy, by extension.
Expected<NamedTensor> readTensorFile(const std::filesystem::path &path);

/// The files KIND_0.pb, KIND_1.pb, ... of an ONNX test data folder, in order. KIND is "input" or "output". `plan`
/// gives their types, which files with sequences do not contain.
enum class DataKind { Input, Output };
Expected<std::vector<NamedTensor>> readTestData(const std::filesystem::path &folder, DataKind kind,
                                                const runtime::Plan &plan);

/// Reads what `run --outputs` writes: NAME.npy in a folder, or the arrays of a .npz file, whose names are inputs or
/// outputs of the plan. A folder with KIND_0.pb, or a test data set below it, is read as test data. Empty if there is
/// neither.
Expected<std::vector<NamedTensor>> readValues(const std::filesystem::path &path, DataKind kind,
                                              const runtime::Plan &plan);

/// "holds no output_0.pb, and no NAME.npy of an output": a sentence about a folder where readValues finds nothing.
Status nothingFound(const std::string &option, const std::filesystem::path &path, DataKind kind);

/// The index of the output that each expected tensor belongs to: that of its name, else its position. A data set may
/// lack trailing outputs; Code::Differs if it has more than the model, or none.
Expected<std::vector<size_t>> matchOutputs(const runtime::Plan &plan, const std::vector<NamedTensor> &expected);

/// A value's name as a file name: characters that could leave the folder or confuse a shell become '_'.
std::string fileName(const std::string &name);

/// The first test_data_set_N below `folder`, or `folder` itself if it holds the data.
std::filesystem::path testDataSet(const std::filesystem::path &folder);

/// The given tensors in the order of the plan's inputs: by name, or by position if names are absent or unknown.
/// Code::Usage names a missing input.
Expected<std::vector<Tensor>> orderInputs(const runtime::Plan &plan, const std::vector<NamedTensor> &given);

/// The names of the symbolic sizes that inputs bind.
std::vector<std::string> inputSymbols(const runtime::Plan &plan);

/// Inputs of the plan's types drawn from `seed`: floats normal, integers in [0, 8), bool either; symbolic sizes from
/// `sizes`, else 1.
Expected<std::vector<Tensor>> randomInputs(const runtime::Plan &plan, uint64_t seed,
                                           const std::vector<std::pair<std::string, int64_t>> &sizes);

} // namespace tilewright
