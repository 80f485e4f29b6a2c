// Tensors in files: ONNX test data (input_0.pb) and NumPy (.npy), by name or by position.
#pragma once

#include "runtime/plan/Plan.h"
#include "tools/tilewright/values/NamedTensor.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tilewright {

/// Reads .pb (TensorProto) or .npy by its ending.
Expected<NamedTensor> readTensorFile(const std::filesystem::path &path);

/// The files KIND_0.pb, KIND_1.pb, ... of an ONNX test data folder, in order. KIND is "input" or "output", and `plan`
/// tells the type of each, which a file with a sequence does not.
enum class DataKind { Input, Output };
Expected<std::vector<NamedTensor>> readTestData(const std::filesystem::path &folder, DataKind kind,
                                                const runtime::Plan &plan);

/// The same of what `run --outputs` writes: NAME.npy in a folder, or the arrays of a .npz file, for those names that
/// the plan gives to inputs or outputs. A folder with KIND_0.pb is read as test data, the first set of those below it.
/// Empty where there is nothing of the kind.
Expected<std::vector<NamedTensor>> readValues(const std::filesystem::path &path, DataKind kind,
                                              const runtime::Plan &plan);

/// "holds no output_0.pb, and no NAME.npy of an output": a sentence about a folder where readValues finds nothing.
Status nothingFound(const std::string &option, const std::filesystem::path &path, DataKind kind);

/// Which output of the plan each expected tensor belongs to: the one of its name, else the one at its position. A data
/// set may leave out what the model gives beyond it; Code::Differs where it has more than the model gives, or nothing.
Expected<std::vector<size_t>> matchOutputs(const runtime::Plan &plan, const std::vector<NamedTensor> &expected);

/// A value's name as a file name: what could leave the folder or confuse a shell becomes '_'.
std::string fileName(const std::string &name);

/// The first test_data_set_N below `folder`, or `folder` itself if it holds the data.
std::filesystem::path testDataSet(const std::filesystem::path &folder);

/// The inputs of `plan` in its order, out of what the user gave: tensors by name, or by position where names are absent
/// or unknown. Code::Usage names an input that is missing.
Expected<std::vector<Tensor>> orderInputs(const runtime::Plan &plan, const std::vector<NamedTensor> &given);

/// The symbolic sizes that inputs bind, by name.
std::vector<std::string> inputSymbols(const runtime::Plan &plan);

/// Inputs of the plan's types drawn from `seed`: floats normal, integers in [0, 8), bool either; symbolic sizes from
/// `sizes`, else 1.
Expected<std::vector<Tensor>> randomInputs(const runtime::Plan &plan, uint64_t seed,
                                           const std::vector<std::pair<std::string, int64_t>> &sizes);

} // namespace tilewright
