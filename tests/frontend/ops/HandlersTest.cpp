// SPDX-License-Identifier: Apache-2.0
// Runs a case of HandlersTest.h.
#include "tests/frontend/ops/HandlersTest.h"

#include "runtime/reference/Reference.h"

namespace tilewright::test {
namespace {

/// A tensor with the contents that the case gives.
Tensor constantOf(const Input &input) {
  Tensor tensor = Tensor::allocate(input.type, input.shape);
  for (int64_t i = 0; i < tensor.count(); ++i)
    switch (input.type) {
    case DType::I64:
      tensor.data<int64_t>()[i] = input.constant[i];
      break;
    case DType::I32:
      tensor.data<int32_t>()[i] = static_cast<int32_t>(input.constant[i]);
      break;
    default:
      tensor.data<uint8_t>()[i] = static_cast<uint8_t>(input.constant[i]);
      break;
    }
  return tensor;
}

/// The bytes of a tensor in a file, where two numbers of four bits share one.
std::string rawData(const Tensor &tensor) {
  std::string bytes(reinterpret_cast<const char *>(tensor.bytes()), tensor.byteSize());
  if (tensor.type() != DType::I4 && tensor.type() != DType::U4)
    return bytes;
  std::string packed((bytes.size() + 1) / 2, 0);
  for (size_t i = 0; i < bytes.size(); ++i)
    packed[i / 2] = static_cast<char>(packed[i / 2] | (bytes[i] & 15) << i % 2 * 4);
  return packed;
}

/// A model of one node, perhaps behind reshapes of its inputs, and the tensors for it.
struct NodeModel {
  explicit NodeModel(const Case &test) : model(test.opset, 10) {
    if (!test.domain.empty())
      model.importDomain(test.domain, 1);
    for (const Input &input : test.inputs)
      addInput(input);
    for (int i = 0; i < test.outputs; ++i) {
      outputs.push_back("y" + std::to_string(i));
      model.output(outputs.back());
    }
    onnx::NodeProto *node = model.node(test.op, names, outputs);
    node->set_domain(test.domain);
    for (const auto &[name, value] : test.attributes)
      std::visit([&](const auto &v) { setAttribute(node, name, v), attributes[name] = v; }, value);
  }

  void addInput(const Input &input) {
    size_t i = names.size();
    names.push_back(input.absent ? "" : "x" + std::to_string(i));
    if (input.absent) {
      all.emplace_back();
      return;
    }
    all.push_back(input.constant.empty() ? sampleTensor(input.type, input.shape, i + 1) : constantOf(input));
    if ((!input.constant.empty() && !input.isFed) || input.isWeights) {
      model.initializer(names.back(), input.shape, input.type)->set_raw_data(rawData(all.back()));
      return;
    }
    std::string name = names.back();
    Tensor tensor = all.back();
    if (!input.from.empty()) {
      name = "from " + name, tensor = tensor.reshaped(input.from);
      addReshape(name, input.shape);
    }
    std::vector<Dim> dims;
    for (int64_t size : tensor.shape())
      dims.push_back(static_cast<int>(size));
    model.input(name, dims, input.type);
    given.push_back(tensor);
  }

  /// Makes the last input of the node a reshape of `from`.
  void addReshape(const std::string &from, const Shape &shape) {
    std::string sizes = "shape of " + names.back();
    onnx::TensorProto *tensor = model.initializer(sizes, {static_cast<int64_t>(shape.size())}, DType::I64);
    for (int64_t size : shape)
      tensor->add_int64_data(size);
    model.node("Reshape", {from, sizes}, {names.back()});
  }

  TinyModel model;
  std::vector<std::string> names, outputs;
  std::vector<Tensor> all, given; // inputs of the node, and those of the model
  Attributes attributes;
};

} // namespace

std::ostream &operator<<(std::ostream &out, const Case &test) { return out << test.op << " opset " << test.opset; }

std::string caseName(const testing::TestParamInfo<Case> &info) {
  return info.param.op + "_" + std::to_string(info.index);
}

std::vector<Case> ofMicrosoft(std::vector<Case> cases) {
  for (Case &test : cases)
    test.domain = "com.microsoft";
  return cases;
}

TEST_P(HandlersTest, ComputesWhatTheReferenceDoes) {
  const Case &test = GetParam();
  NodeModel node(test);
  mlir::MLIRContext context;
  ImportReport report;
  auto module = importModelBytes(context, node.model.bytes(), ".", {}, &report);
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_TRUE(report.fallbacks.empty()) << report.fallbacks.front().reason;
  auto got = graph::interpret(**module, node.given);
  ASSERT_TRUE(got.ok()) << got.status().message();
  ReferenceCall call{.op = test.op,
                     .domain = test.domain,
                     .opset = test.domain.empty() ? test.opset : 1,
                     .attributes = &node.attributes,
                     .outputCount = static_cast<size_t>(test.outputs)};
  auto expected = evaluate(call, node.all);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  for (int i = 0; i < test.outputs; ++i)
    expectClose((*got)[i], (*expected)[i], node.outputs[i]);
}

} // namespace tilewright::test
