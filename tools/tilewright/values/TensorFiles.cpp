// SPDX-License-Identifier: Apache-2.0
// Reads tensors from files, and generates random ones.
#include "tools/tilewright/values/TensorFiles.h"

#include "frontend/onnx/TensorData.h"
#include "runtime/reference/Kernel.h"
#include "tools/tilewright/values/Npy.h"
#include "tools/tilewright/values/Npz.h"
#include "tools/tilewright/values/ValueProto.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <random>

namespace fs = std::filesystem;

namespace tilewright {

/// Reads a serialized TensorProto.
static Expected<NamedTensor> readTensorProto(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Status(Code::Io, fmt::format("{}: cannot be opened", path.string()));
  auto proto = std::make_shared<onnx::TensorProto>();
  if (!proto->ParseFromIstream(&file))
    return Status(Code::Malformed, fmt::format("{}: is not a TensorProto", path.string()));
  Expected<Tensor> tensor = decodeTensor(*proto, path.filename().string(), {nullptr, proto, std::nullopt});
  if (!tensor)
    return tensor.status();
  return NamedTensor{proto->name(), std::move(*tensor)};
}

Expected<NamedTensor> readTensorFile(const fs::path &path) {
  if (path.extension() == ".npy") {
    Expected<Tensor> tensor = readNpy(path);
    if (!tensor)
      return tensor.status();
    return NamedTensor{"", std::move(*tensor)};
  }
  return readTensorProto(path);
}

Expected<std::vector<size_t>> matchOutputs(const runtime::Plan &plan, const std::vector<NamedTensor> &expected) {
  std::vector<size_t> places;
  for (size_t i = 0; i < expected.size(); ++i) {
    auto named = std::ranges::find_if(plan.outputs,
                                      [&](runtime::ValueId id) { return plan.values[id].name == expected[i].name; });
    places.push_back(named == plan.outputs.end() ? i : static_cast<size_t>(named - plan.outputs.begin()));
  }
  if (places.empty() || expected.size() > plan.outputs.size())
    return Status(Code::Differs,
                  fmt::format("the model has {} outputs, the data set {}", plan.outputs.size(), expected.size()));
  return places;
}

std::string fileName(const std::string &name) {
  std::string safe;
  for (char c : name)
    safe += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' ? c : '_';
  return safe.empty() || safe.front() == '.' ? "_" + safe : safe;
}

fs::path testDataSet(const fs::path &folder) {
  std::vector<fs::path> sets;
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with("test_data_set_"))
      sets.push_back(entry.path());
  return sets.empty() ? folder : *std::min_element(sets.begin(), sets.end());
}

static const char *kindName(DataKind kind) { return kind == DataKind::Input ? "input" : "output"; }

Expected<std::vector<NamedTensor>> readTestData(const fs::path &folder, DataKind kind, const runtime::Plan &plan) {
  std::vector<NamedTensor> tensors;
  const std::vector<runtime::ValueId> &ids = kind == DataKind::Input ? plan.inputs : plan.outputs;
  for (size_t i = 0;; ++i) {
    fs::path file = folder / fmt::format("{}_{}.pb", kindName(kind), i);
    if (!fs::exists(file))
      return tensors;
    DType type = i < ids.size() ? plan.values[ids[i]].dtype : DType::F32;
    bool isTensor = !isObject(type) || type == DType::String;
    Expected<NamedTensor> tensor = isTensor ? readTensorFile(file) : readValueProto(file, type);
    if (!tensor)
      return tensor.status();
    tensors.push_back(std::move(*tensor));
  }
}

/// Reinterprets integers as `expected`: NumPy has neither bfloat16 nor types narrower than a byte, and ONNX before 1.13
/// wrote bfloat16 as uint16, so files hold the bits.
static Tensor withType(const Tensor &given, DType expected) {
  bool bits = given.type() == DType::U8 || given.type() == DType::U16;
  bool hasNoFormat = expected == DType::BF16 || (isStorageOnly(expected) && !isComplex(expected));
  if (!bits || !hasNoFormat || elementBytes(given.type()) != elementBytes(expected))
    return given;
  Tensor shared = given;
  return Tensor(expected, given.shape(),
                std::shared_ptr<std::byte[]>(std::make_shared<Tensor>(shared), shared.bytes()));
}

Expected<std::vector<NamedTensor>> readValues(const fs::path &path, DataKind kind, const runtime::Plan &plan) {
  fs::path folder = testDataSet(path);
  if (fs::exists(folder / fmt::format("{}_0.pb", kindName(kind))))
    return readTestData(folder, kind, plan);
  std::vector<NamedTensor> arrays, values;
  if (path.extension() == ".npz") {
    Expected<std::vector<NamedTensor>> read = readNpz(path);
    TILEWRIGHT_TRY(read);
    arrays = std::move(*read);
  }
  for (runtime::ValueId id : kind == DataKind::Input ? plan.inputs : plan.outputs) {
    const runtime::Value &value = plan.values[id];
    auto array = std::ranges::find(arrays, value.name, &NamedTensor::name);
    fs::path file = path / (fileName(value.name) + ".npy");
    if (array != arrays.end()) {
      values.push_back({value.name, withType(array->tensor, value.dtype)});
    } else if (fs::exists(file)) {
      Expected<NamedTensor> tensor = readTensorFile(file);
      TILEWRIGHT_TRY(tensor);
      values.push_back({value.name, withType(tensor->tensor, value.dtype)});
    }
  }
  return values;
}

Status nothingFound(const std::string &option, const fs::path &path, DataKind kind) {
  return {Code::Io, fmt::format("{} {}: holds no {}_0.pb, and no array with the name of an {}", option, path.string(),
                                kindName(kind), kindName(kind))};
}

Expected<std::vector<Tensor>> orderInputs(const runtime::Plan &plan, const std::vector<NamedTensor> &given) {
  std::vector<Tensor> ordered;
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const std::string &name = plan.values[plan.inputs[i]].name;
    auto named = std::find_if(given.begin(), given.end(), [&](const NamedTensor &t) { return t.name == name; });
    if (named == given.end() && i < given.size())
      named = given.begin() + i;
    if (named == given.end())
      return Status(Code::Usage, fmt::format("input '{}' is missing: {} inputs given, {} expected", name, given.size(),
                                             plan.inputs.size()));
    ordered.push_back(withType(named->tensor, plan.values[plan.inputs[i]].dtype));
  }
  return ordered;
}

/// Fills `tensor` with random numbers in a range that suits its type.
static void fillRandom(Tensor &tensor, std::mt19937_64 &generator) {
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < tensor.count(); ++i)
    switch (tensor.type()) {
    case DType::F32:
      tensor.data<float>()[i] = normal(generator);
      break;
    case DType::F64:
      tensor.data<double>()[i] = normal(generator);
      break;
    case DType::F16:
      tensor.data<_Float16>()[i] = static_cast<_Float16>(normal(generator));
      break;
    case DType::BF16:
      tensor.data<uint16_t>()[i] = std::bit_cast<uint32_t>(normal(generator)) >> 16;
      break;
    case DType::Bool:
      tensor.data<uint8_t>()[i] = generator() & 1;
      break;
    case DType::C64:
    case DType::C128:
      for (int part = 0; part < 2; ++part)
        tensor.type() == DType::C64 ? void(tensor.data<float>()[2 * i + part] = normal(generator))
                                    : void(tensor.data<double>()[2 * i + part] = normal(generator));
      break;
    case DType::String:
      tensor.data<std::string>()[i] = fmt::format("word{}", generator() % 8);
      break;
    default:
      if (reference::isFloat(tensor.type())) {
        double value = normal(generator);
        reference::write(tensor, i, 1, &value);
        break;
      }
      // The low byte; the others are zero. At most 1 for int2.
      *reinterpret_cast<uint8_t *>(tensor.bytes() + i * elementBytes(tensor.type())) =
          generator() % (tensor.type() == DType::I2   ? 2
                         : tensor.type() == DType::U2 ? 4
                                                      : 8);
    }
}

std::vector<std::string> inputSymbols(const runtime::Plan &plan) {
  std::vector<std::string> names;
  for (const runtime::Symbol &symbol : plan.symbols)
    if (symbol.input != runtime::none)
      names.push_back(symbol.name);
  return names;
}

Expected<std::vector<Tensor>> randomInputs(const runtime::Plan &plan, uint64_t seed,
                                           const std::vector<std::pair<std::string, int64_t>> &sizes) {
  std::vector<int64_t> symbols;
  for (const runtime::Symbol &symbol : plan.symbols) {
    auto size = std::find_if(sizes.begin(), sizes.end(), [&](const auto &pair) { return pair.first == symbol.name; });
    symbols.push_back(symbol.input == runtime::none ? runtime::ExprValues::unknown
                      : size == sizes.end()         ? 1
                                                    : size->second);
  }
  runtime::ExprValues values = runtime::ExprValues::evaluate(plan.exprs, symbols);
  std::mt19937_64 generator(seed);
  std::vector<Tensor> inputs;
  for (runtime::ValueId id : plan.inputs) {
    if (isObject(plan.values[id].dtype) && plan.values[id].dtype != DType::String)
      return Status(
          Code::Usage,
          fmt::format("input '{}' is a {}, which cannot be invented: give a folder of ONNX test data by --inputs",
                      plan.values[id].name, name(plan.values[id].dtype)));
    Shape shape;
    for (runtime::ExprId dim : plan.values[id].dims) {
      Expected<int64_t> size = values.get(dim);
      if (!size)
        return size.status();
      shape.push_back(*size);
    }
    Tensor tensor = Tensor::allocate(plan.values[id].dtype, std::move(shape));
    fillRandom(tensor, generator);
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

} // namespace tilewright
