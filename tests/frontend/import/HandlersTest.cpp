// Every handler against the reference: a model of one node, imported, interpreted, and compared with what
// runtime/reference computes for the node itself. Each row states whether the node must compile (no fallback).
#include "tests/frontend/TinyModel.h"

#include "frontend/import/HostCall.h"
#include "frontend/ops/OpTable.h"
#include "runtime/reference/Reference.h"

using namespace tilewright;
using namespace tilewright::test;

namespace {

struct Input {
  Shape shape;
  DType type = DType::F32;
  std::vector<int64_t> constant = {}; // contents of a constant integer input: int64, int32 or uint8
  bool absent = false;
  bool isWeights = false; // random, but a constant
};

Input weights(Shape shape) {
  Input input{std::move(shape)};
  input.isWeights = true;
  return input;
}

using Value = std::variant<int64_t, float, std::string, std::vector<int64_t>>;

struct Case {
  std::string op;
  std::vector<Input> inputs;
  std::vector<std::pair<std::string, Value>> attributes = {};
  int opset = 17;
  int outputs = 1;
  std::string domain = "";
};

std::ostream &operator<<(std::ostream &out, const Case &test) { return out << test.op << " opset " << test.opset; }

class HandlersTest : public testing::TestWithParam<Case> {};

TEST_P(HandlersTest, ComputesWhatTheReferenceDoes) {
  const Case &test = GetParam();
  TinyModel model(test.opset, 10);
  if (!test.domain.empty())
    model.importDomain(test.domain, 1);
  std::vector<std::string> names, outputs;
  std::vector<Tensor> all, given;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    const Input &input = test.inputs[i];
    names.push_back(input.absent ? "" : "x" + std::to_string(i));
    if (input.absent) {
      all.emplace_back();
      continue;
    }
    if (!input.constant.empty()) {
      all.push_back(Tensor::allocate(input.type, input.shape));
      for (int64_t i = 0; i < all.back().count(); ++i)
        switch (input.type) {
        case DType::I64:
          all.back().data<int64_t>()[i] = input.constant[i];
          break;
        case DType::I32:
          all.back().data<int32_t>()[i] = static_cast<int32_t>(input.constant[i]);
          break;
        default:
          all.back().data<uint8_t>()[i] = static_cast<uint8_t>(input.constant[i]);
          break;
        }
      model.initializer(names.back(), input.shape, input.type)->set_raw_data(all.back().bytes(), all.back().byteSize());
      continue;
    }
    if (input.isWeights) {
      all.push_back(sampleTensor(input.type, input.shape, i + 1));
      model.initializer(names.back(), input.shape, input.type)->set_raw_data(all.back().bytes(), all.back().byteSize());
      continue;
    }
    std::vector<Dim> dims;
    for (int64_t size : input.shape)
      dims.push_back(static_cast<int>(size));
    model.input(names.back(), dims, input.type);
    all.push_back(sampleTensor(input.type, input.shape, i + 1));
    given.push_back(all.back());
  }
  for (int i = 0; i < test.outputs; ++i) {
    outputs.push_back("y" + std::to_string(i));
    model.output(outputs.back());
  }
  onnx::NodeProto *node = model.node(test.op, names, outputs);
  node->set_domain(test.domain);
  Attributes attributes;
  for (const auto &[name, value] : test.attributes)
    std::visit([&](const auto &v) { setAttribute(node, name, v), attributes[name] = v; }, value);

  mlir::MLIRContext context;
  ImportReport report;
  auto module = importModelBytes(context, model.bytes(), ".", {}, &report);
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_TRUE(report.fallbacks.empty()) << report.fallbacks.front().reason;
  auto got = graph::interpret(**module, given);
  ASSERT_TRUE(got.ok()) << got.status().message();
  ReferenceCall call{.op = test.op,
                     .domain = test.domain,
                     .opset = test.domain.empty() ? test.opset : 1,
                     .attributes = &attributes,
                     .outputCount = static_cast<size_t>(test.outputs)};
  auto expected = evaluate(call, all);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  for (int i = 0; i < test.outputs; ++i)
    expectClose((*got)[i], (*expected)[i], outputs[i]);
}

std::vector<Case> elementwise() {
  std::vector<Case> cases;
  for (const char *op : {"Abs",      "Acos",        "Asin",      "Atan",      "Ceil",
                         "Cos",      "Erf",         "Exp",       "Floor",     "Neg",
                         "Relu",     "Round",       "Sigmoid",   "Sign",      "Sin",
                         "Softplus", "Softsign",    "Tanh",      "Elu",       "Selu",
                         "Celu",     "HardSigmoid", "HardSwish", "LeakyRelu", "ThresholdedRelu",
                         "Shrink",   "Reciprocal",  "IsNaN",     "IsInf",     "Identity"})
    cases.push_back({op, {{{3, 5}}}});
  for (const char *op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "Greater", "Equal", "LessOrEqual",
                         "GreaterOrEqual", "PRelu", "Sum", "Mean"})
    cases.push_back({op, {{{2, 3, 4}}, {{3, 1}}}});
  for (const char *op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "Equal", "Mod"})
    cases.push_back({op, {{{4, 6}, DType::I64}, {{6}, DType::I64}}});
  for (const char *op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Less", "Greater", "Mod"})
    cases.push_back({op, {{{4, 6}, DType::U8}, {{6}, DType::U8}}});
  for (const char *op : {"And", "Or", "Xor", "Equal"})
    cases.push_back({op, {{{4, 6}, DType::Bool}, {{6}, DType::Bool}}});
  for (DType to : {DType::F64, DType::F16, DType::BF16, DType::I64, DType::I32, DType::I8, DType::Bool})
    for (DType from : {DType::F32, DType::I64, DType::U8, DType::Bool})
      if (to != DType::BF16 || from == DType::F32)
        cases.push_back({"Cast", {{{3, 7}, from}}, {{"to", static_cast<int64_t>(to)}}});
  cases.push_back({"Mod", {{{4, 6}}, {{6}}}, {{"fmod", int64_t(1)}}});
  cases.push_back({"Mod", {{{4, 6}}, {{6}}}, {}, 28}); // the sign of the divisor
  cases.push_back(
      {"Slice",
       {{{7, 3}}, {{1}, DType::I64, {-5}}, {{1}, DType::I64, {-8}}, {{1}, DType::I64, {-1}}, {{1}, DType::I64, {-3}}}});
  for (const char *mode : {"reflect", "edge", "wrap"}) // cropped first
    cases.push_back({"Pad", {{{5}}, {{2}, DType::I64, {3, -1}}}, {{"mode", std::string(mode)}}, 19});
  for (const char *direction : {"LEFT", "RIGHT"})
    for (DType type :
         {DType::I32, DType::I64, DType::U8}) // among them negative shifts, and shifts by more than the width
      cases.push_back({"BitShift", {{{4, 6}, type}, {{6}, type}}, {{"direction", std::string(direction)}}, 28});
  cases.push_back({"Pow", {{{4, 6}, DType::I64}, {{}, DType::I64, {9}}}}); // 3^9 is 19,683
  cases.push_back({"Pow", {{{4, 6}, DType::I32}, {{1}, DType::I64, {9}}}});
  cases.push_back({"Pow", {{{4, 6}, DType::I64}, {{}, DType::I64, {63}}}}); // wraps
  cases.push_back({"BitCast", {{{4, 6}}}, {{"to", int64_t(6)}}, 26});
  cases.push_back({"BitCast", {{{4, 6}, DType::I32}}, {{"to", int64_t(1)}}, 26});
  cases.push_back({"Mod", {{{4, 6}, DType::I64}, {{6}, DType::I64}}, {{"fmod", int64_t(1)}}});
  cases.push_back({"Not", {{{4}, DType::Bool}}});
  cases.push_back({"Clip", {{{4, 6}}}, {{"min", -0.5f}, {"max", 0.5f}}, 9});
  cases.push_back({"Clip", {{{4, 6}}, {{}}, {{}}}});
  cases.push_back({"Where", {{{4, 1}, DType::Bool}, {{6}}, {{4, 6}}}});
  cases.push_back({"Gelu", {{{4, 6}}}, {}, 20});
  cases.push_back({"Gelu", {{{4, 6}}}, {{"approximate", std::string("tanh")}}, 20});
  cases.push_back({"Mish", {{{4, 6}}}, {}, 18});
  cases.push_back({"SwiGLU", {{{4, 6}}, {{4, 6}}}, {{"alpha", 1.5f}}, 28});
  cases.push_back({"QuickGelu", {{{4, 6}}}, {}, 17, 1, "com.microsoft"});
  return cases;
}

/// From and to the types that kernels only store.
std::vector<Case> narrowCasts() {
  std::vector<Case> cases;
  auto to = [](DType type) { return std::pair<std::string, Value>("to", static_cast<int64_t>(type)); };
  DType floats[] = {DType::F8E4M3FN, DType::F8E4M3FNUZ, DType::F8E5M2, DType::F8E5M2FNUZ, DType::F8E8M0, DType::F4E2M1};
  for (DType type : floats) {
    for (int64_t saturate : {0, 1})
      for (DType from : {DType::F32, DType::I64, DType::U8, DType::Bool})
        cases.push_back({"Cast", {{{9, 31}, from}}, {to(type), {"saturate", saturate}}, 28});
    for (DType other : {DType::F32, DType::I64, DType::F8E5M2, DType::I4})
      if (other != type)
        cases.push_back({"Cast", {{{9, 31}, type}}, {to(other)}, 28});
  }
  for (const char *mode : {"up", "down", "nearest"})
    cases.push_back({"Cast", {{{9, 31}}}, {to(DType::F8E8M0), {"round_mode", std::string(mode)}}, 28});
  for (DType type : {DType::I4, DType::U4, DType::I2, DType::U2})
    for (DType other : {DType::F32, DType::I64, DType::U8, DType::F8E4M3FN}) {
      cases.push_back({"Cast", {{{9, 31}, other}}, {to(type)}, 28});
      cases.push_back({"Cast", {{{9, 31}, type}}, {to(other)}, 28});
      cases.push_back({"CastLike", {{{9, 31}, other}, {{1}, type}}, {}, 28});
    }
  return cases;
}

std::vector<Case> signals() {
  std::vector<Case> cases;
  for (int64_t inverse : {0, 1})
    for (int64_t parts : {1, 2}) {
      cases.push_back({"DFT", {{{2, 6, 3, parts}}}, {{"axis", int64_t(1)}, {"inverse", inverse}}});
      cases.push_back(
          {"DFT", {{{2, 5, parts}}, {{}, DType::I64, {8}}, {{}, DType::I64, {1}}}, {{"inverse", inverse}}, 20});
      cases.push_back({"DFT", {{{2, 9, parts}}, {{}, DType::I64, {4}}}, {{"inverse", inverse}}, 20});
    }
  for (int64_t size : {6, 7})
    cases.push_back({"DFT", {{{2, size, 1}}}, {{"onesided", int64_t(1)}}, 20});
  cases.push_back({"DFT", {{{2, 5, 2}}}, {{"onesided", int64_t(1)}, {"inverse", int64_t(1)}}, 20});
  cases.push_back(
      {"DFT", {{{2, 4, 2}}, {{}, DType::I64, {7}}}, {{"onesided", int64_t(1)}, {"inverse", int64_t(1)}}, 20});
  cases.push_back({"STFT", {{{2, 20, 1}}, {{}, DType::I64, {4}}, {{8}}}});
  cases.push_back(
      {"STFT", {{{2, 20}}, {{}, DType::I64, {3}}, {{7}}, {{}, DType::I64, {7}}}, {{"onesided", int64_t(0)}}});
  for (const char *activation : {"none", "silu"})
    cases.push_back({"CausalConvWithState",
                     {{{2, 3, 5}}, {{3, 1, 4}}, {{3}}, {{2, 3, 3}}},
                     {{"activation", std::string(activation)}},
                     27,
                     2});
  cases.push_back({"CausalConvWithState", {{{2, 3, 5}}, {{3, 1, 4}}}, {}, 27, 2});
  cases.push_back({"SpaceToDepth", {{{2, 3, 4, 6}}}, {{"blocksize", int64_t(2)}, {"mode", std::string("CRD")}}, 28});
  cases.push_back({"SpaceToDepth", {{{2, 3, 4, 6}}}, {{"blocksize", int64_t(2)}}, 28});
  return cases;
}

std::vector<Case> products() {
  std::vector<Case> cases;
  for (auto [left, right] : std::vector<std::pair<Shape, Shape>>{{{3, 4}, {4, 5}},
                                                                 {{2, 3, 4}, {4, 5}},
                                                                 {{2, 3, 4}, {2, 4, 5}},
                                                                 {{2, 1, 3, 4}, {3, 4, 5}},
                                                                 {{4}, {4, 5}},
                                                                 {{3, 4}, {4}},
                                                                 {{4}, {4}},
                                                                 {{4}, {2, 4, 5}},
                                                                 {{2, 3, 4}, {4}},
                                                                 {{2, 3, 4}, {1, 4, 5}},
                                                                 {{3, 4}, {2, 4, 5}}})
    cases.push_back({"MatMul", {{left}, {right}}});
  cases.push_back({"Gemm", {{{3, 4}}, {{4, 5}}, {{5}}}});
  cases.push_back({"Gemm",
                   {{{4, 3}}, {{5, 4}}, {{3, 1}}},
                   {{"transA", int64_t(1)}, {"transB", int64_t(1)}, {"alpha", 0.5f}, {"beta", 2.0f}}});
  cases.push_back({"MatMulInteger", {{{3, 4}, DType::U8}, {{4, 5}, DType::U8}, {{}, DType::U8}, {{5}, DType::U8}}});
  for (const char *equation : {"ij,jk->ik", "bij,bkj->bik", "ij->ji", "i,j->ij", "ij,kj", "bhqd,bhkd->bhqk"}) {
    std::string text = equation;
    Case test{"Einsum", {}, {{"equation", text}}};
    for (size_t at = 0; at != std::string::npos && at < text.find("->");) {
      size_t end = std::min(text.find(',', at), text.find("->"));
      Shape shape;
      for (char label : text.substr(at, end == std::string::npos ? end : end - at))
        shape.push_back(label % 5 + 2);
      test.inputs.push_back({shape});
      at = end == std::string::npos || text[end] != ',' ? std::string::npos : end + 1;
    }
    cases.push_back(test);
  }
  cases.push_back({"Einsum", {{{2, 3, 4}}, {{2, 4, 5}}}, {{"equation", std::string("...ij,...jk->...ik")}}});
  return cases;
}

std::vector<Case> shapes() {
  using List = std::vector<int64_t>;
  constexpr int64_t toEnd = std::numeric_limits<int64_t>::max(), toStart = std::numeric_limits<int64_t>::min();
  return {
      {"Reshape", {{{2, 3, 4}}, {{2}, DType::I64, {0, -1}}}},
      {"Flatten", {{{2, 3, 4}}}, {{"axis", int64_t(2)}}},
      {"Squeeze", {{{2, 1, 3, 1}}, {{1}, DType::I64, {-1}}}},
      {"Unsqueeze", {{{2, 3}}, {{2}, DType::I64, {0, -1}}}},
      {"Transpose", {{{2, 3, 4}}}},
      {"Transpose", {{{2, 3, 4}}}, {{"perm", List{1, 2, 0}}}},
      {"Slice", {{{8, 10}}, {{2}, DType::I64, {1, -3}}, {{2}, DType::I64, {toEnd, -1}}}},
      {"Slice",
       {{{8, 10}},
        {{1}, DType::I64, {-1}},
        {{1}, DType::I64, {toStart}},
        {{1}, DType::I64, {1}},
        {{1}, DType::I64, {-3}}}},
      {"Slice",
       {{{8, 10}}, {{1}, DType::I64, {7}}, {{1}, DType::I64, {1}}, {{1}, DType::I64, {0}}, {{1}, DType::I64, {-2}}}},
      {"Slice", {{{8, 10}}}, {{"starts", List{2}}, {"ends", List{100}}, {"axes", List{1}}}, 9},
      {"Split", {{{7, 4}}}, {{"axis", int64_t(1)}}, 17, 2},
      {"Split", {{{7, 4}}}, {{"num_outputs", int64_t(3)}}, 18, 3},
      {"Split", {{{7, 4}}, {{2}, DType::I64, {5, 2}}}, {}, 17, 2},
      {"Concat", {{{2, 3}}, {{2, 1}}, {{2, 5}}}, {{"axis", int64_t(-1)}}},
      {"Pad", {{{3, 4}}, {{4}, DType::I64, {1, 0, 2, 3}}}},
      {"Pad", {{{3, 4}}, {{4}, DType::I64, {1, 2, 0, 2}}}, {{"mode", std::string("reflect")}}},
      {"Pad", {{{3, 4}}, {{4}, DType::I64, {1, 2, 0, 2}}}, {{"mode", std::string("edge")}}},
      {"Pad", {{{3, 4}}, {{4}, DType::I64, {-1, 2, 0, -1}}}},
      {"Expand", {{{3, 1}}, {{3}, DType::I64, {2, 1, 4}}}},
      {"Tile", {{{3, 2}}, {{2}, DType::I64, {2, 3}}}},
      {"DepthToSpace", {{{2, 8, 3, 4}}}, {{"blocksize", int64_t(2)}}},
      {"DepthToSpace", {{{2, 8, 3, 4}}}, {{"blocksize", int64_t(2)}, {"mode", std::string("CRD")}}},
      {"SpaceToDepth", {{{2, 2, 4, 6}}}, {{"blocksize", int64_t(2)}}},
      {"Trilu", {{{4, 5}}}, {{"upper", int64_t(0)}}},
      {"EyeLike", {{{4, 5}}}, {{"k", int64_t(1)}}},
      {"Gather", {{{5, 4}}, {{2, 2}, DType::I64, {0, 4, -1, 2}}}, {{"axis", int64_t(0)}}},
      {"Gather", {{{5, 4}}, {{2}, DType::I64, {1, 3}}}, {{"axis", int64_t(1)}}},
      {"GatherElements", {{{3, 3}}, {{2, 3}, DType::I64, {1, 2, 0, -1, 0, 0}}}, {{"axis", int64_t(0)}}},
      {"GatherND", {{{3, 4, 2}}, {{2, 2}, DType::I64, {1, 2, -1, 0}}}},
      {"GatherND", {{{2, 3, 4}}, {{2, 1}, DType::I64, {1, 2}}}, {{"batch_dims", int64_t(1)}}},
      {"CumSum", {{{3, 4}}, {{}, DType::I64, {1}}}},
      {"CumSum", {{{3, 4}}, {{}, DType::I64, {0}}}, {{"exclusive", int64_t(1)}, {"reverse", int64_t(1)}}},
      {"Dropout", {{{3, 4}}}, {}, 11},
  };
}

std::vector<Case> reductions() {
  std::vector<Case> cases;
  for (const char *op : {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                         "ReduceSumSquare", "ReduceLogSumExp"}) {
    cases.push_back({op, {{{2, 3, 4}}}, {{"axes", std::vector<int64_t>{1}}}});
    cases.push_back({op, {{{2, 3, 4}}}, {{"axes", std::vector<int64_t>{-1, 0}}, {"keepdims", int64_t(0)}}});
    cases.push_back({op, {{{2, 3, 4}}}});
  }
  cases.push_back({"ReduceSum", {{{2, 3, 4}}, {{1}, DType::I64, {2}}}});
  cases.push_back({"ReduceMax", {{{2, 3, 4}, DType::U8}}, {{"axes", std::vector<int64_t>{1}}}});
  cases.push_back({"ReduceMean", {{{2, 3}, DType::I64}}});
  for (const char *op : {"ArgMax", "ArgMin"}) {
    cases.push_back({op, {{{3, 6}}}, {{"axis", int64_t(1)}}});
    cases.push_back({op, {{{6, 3}, DType::I32}}, {{"keepdims", int64_t(0)}, {"select_last_index", int64_t(1)}}});
  }
  for (const char *op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    cases.push_back({op, {{{2, 3, 4}}}});
    cases.push_back({op, {{{2, 3, 4}}}, {{"axis", int64_t(1)}}});
    cases.push_back({op, {{{2, 3, 4}}}, {{"axis", int64_t(1)}}, 11});
  }
  return cases;
}

std::vector<Case> normalizations() {
  return {
      {"LayerNormalization", {{{2, 3, 4}}, {{4}}, {{4}}}, {}, 17, 3},
      {"LayerNormalization", {{{2, 3, 4}}, {{3, 4}}}, {{"axis", int64_t(1)}}},
      {"InstanceNormalization", {{{2, 3, 4, 5}}, {{3}}, {{3}}}},
      {"GroupNormalization", {{{2, 4, 3, 3}}, {{4}}, {{4}}}, {{"num_groups", int64_t(2)}}, 21},
      {"LRN", {{{1, 6, 3, 3}}}, {{"size", int64_t(3)}, {"alpha", 0.1f}, {"bias", 2.0f}}},
      {"LpNormalization", {{{3, 4}}}, {{"p", int64_t(1)}}},
      {"LpNormalization", {{{3, 4}}}},
      {"MeanVarianceNormalization", {{{2, 3, 4, 4}}}},
      {"SkipSimplifiedLayerNormalization",
       {{{2, 3, 4}}, {{2, 3, 4}}, {{4}}, {{4}}},
       {{"epsilon", 1e-5f}},
       17,
       1,
       "com.microsoft"},
  };
}

std::vector<Case> attentions() {
  return {
      {"Attention", {{{2, 4, 3, 8}}, {{2, 2, 5, 8}}, {{2, 2, 5, 6}}}, {}, 23},
      {"Attention",
       {{{2, 3, 32}}, {{2, 5, 16}}, {{2, 5, 16}}},
       {{"q_num_heads", int64_t(4)}, {"kv_num_heads", int64_t(2)}, {"is_causal", int64_t(1)}},
       23},
      {"Attention", {{{1, 2, 3, 8}}, {{1, 2, 3, 8}}, {{1, 2, 3, 8}}, {{3, 3}, DType::Bool}}, {{"softcap", 2.0f}}, 23},
      {"RotaryEmbedding", {{{2, 3, 4, 8}}, {{2, 4, 4}}, {{2, 4, 4}}}, {}, 23},
      {"RotaryEmbedding",
       {{{2, 4, 24}}, {{6, 2}}, {{6, 2}}, {{2, 4}, DType::I64, {0, 1, 2, 3, 2, 3, 4, 5}}},
       {{"num_heads", int64_t(3)}, {"interleaved", int64_t(1)}, {"rotary_embedding_dim", int64_t(4)}},
       23},
  };
}

/// com.microsoft. Its operators are written as sentences of standard ones, in the handlers and in the reference, each
/// by itself.
std::vector<Case> fusedProducts() {
  using List = std::vector<int64_t>;
  Input none{.shape = {}, .absent = true};
  int64_t one = 1;
  std::vector<Case> cases = {
      {"FusedMatMul", {{{2, 4, 3}}, {{5, 4}}}, {{"transA", one}, {"transB", one}, {"alpha", 0.5f}}},
      {"FusedMatMul", {{{3, 2, 4}}, {{2, 4, 5}}}, {{"transBatchA", one}}},
      {"FusedGemm",
       {{{3, 4}}, {{4, 5}}, {{5}}},
       {{"activation", std::string("LeakyRelu")}, {"activation_alpha", 0.3f}}},
      {"GemmFastGelu", {{{3, 4}}, {{4, 5}}, {{5}}}},
      {"FusedConv",
       {{{1, 2, 5, 5}}, {{3, 2, 3, 3}}, {{3}}, {{1, 3, 5, 5}}},
       {{"activation", std::string("Relu")}, {"pads", List{1, 1, 1, 1}}}},
      {"NhwcFusedConv", {{{1, 5, 5, 2}}, {{3, 2, 3, 3}}, {{3}}}, {{"activation", std::string("Sigmoid")}}},
      {"NhwcMaxPool", {{{1, 4, 6, 3}, DType::U8}}, {{"kernel_shape", List{2, 2}}, {"strides", List{2, 2}}}},
      {"GroupNorm", {{{2, 3, 3, 4}}, {{4}}, {{4}}}, {{"groups", int64_t(2)}, {"activation", one}}},
      {"SkipGroupNorm",
       {{{2, 3, 3, 4}}, {{4}}, {{4}}, {{2, 4}}, {{4}}},
       {{"groups", int64_t(2)}, {"activation", int64_t(0)}},
       17,
       2},
      {"SkipLayerNormalization", {{{2, 3, 4}}, {{3, 4}}, {{4}}, {{4}}, {{4}}}, {{"epsilon", 1e-5f}}},
      {"EmbedLayerNormalization",
       {{{2, 3}, DType::I32, {0, 1, 2, 3, 4, 0}},
        none,
        {{5, 4}},
        {{6, 4}},
        none,
        {{4}},
        {{4}},
        {{2, 3}, DType::I32, {1, 1, 0, 1, 0, 0}}},
       {},
       17,
       2},
      {"BiasSoftmax", {{{2, 3, 4}}, {{3, 4}}}, {{"axis", int64_t(2)}, {"is_inner_broadcast", int64_t(0)}}},
      {"BiasSplitGelu", {{{2, 3, 4}}, {{4}}}},
      {"BiasAdd", {{{2, 3, 4}}, {{4}}, {{2, 3, 4}}}},
      {"QGemm",
       {{{3, 4}, DType::U8}, {{}}, {{}, DType::U8}, {{5, 4}, DType::U8}, {{5}}, {{5}, DType::U8}, {{5}, DType::I32}},
       {{"transB", one}, {"alpha", 0.5f}}},
      {"MatMulIntegerToFloat",
       {{{3, 4}, DType::U8}, {{4, 5}, DType::U8}, {{}}, {{5}}, {{}, DType::U8}, {{5}, DType::U8}, {{5}}}},
      {"DynamicQuantizeMatMul", {{{3, 4}}, {{4, 5}, DType::U8}, {{1}}}},
  };
  for (Case &test : cases)
    test.domain = "com.microsoft";
  cases.push_back({"SimplifiedLayerNormalization", {{{2, 3, 4}}, {{4}}}, {}, 17, 2});
  cases.push_back({"LayerNormalization", {{{2, 3, 4}}, {{4}}, {{4}}}, {}, 11});
  return cases;
}

std::vector<Case> fusedAttentions() {
  Input none{.shape = {}, .absent = true};
  int64_t one = 1, two = 2;
  using List = std::vector<int64_t>;
  std::vector<Case> cases = {
      {"Attention", {{{2, 3, 4}}, {{4, 24}}, {{24}}, {{2}, DType::I32, {2, 3}}}, {{"num_heads", two}}},
      {"Attention",
       {{{2, 3, 4}}, {{4, 24}}, {{24}}, {{4}, DType::I32, {2, 3, 0, 1}}},
       {{"num_heads", two}, {"mask_filter_value", -50.0f}, {"scale", 0.2f}}},
      {"Attention",
       {{{2, 3, 4}}, {{4, 24}}, {{24}}, none, {{2, 2, 2, 5, 4}}, {{1, 2, 3, 8}}},
       {{"num_heads", two}, {"unidirectional", one}},
       17,
       2},
      {"Attention", {{{2, 3, 4}}, {{4, 20}}, {{20}}}, {{"num_heads", two}, {"qkv_hidden_sizes", List{8, 8, 4}}}},
      {"MultiHeadAttention",
       {{{2, 3, 8}}, {{2, 4, 8}}, {{2, 4, 6}}, {{22}}, {{2, 4}, DType::I32, {1, 0, 1, 1, 0, 1, 1, 1}}},
       {{"num_heads", two}}},
      {"MultiHeadAttention", {{{2, 3, 8}}, {{2, 2, 4, 4}}, {{2, 2, 4, 4}}}, {{"num_heads", two}}},
      {"MultiHeadAttention",
       {{{2, 3, 8}}, {{2, 3, 8}}, {{2, 3, 8}}, none, none, none, {{2, 2, 4, 4}}, {{2, 2, 4, 4}}},
       {{"num_heads", two}, {"unidirectional", one}},
       17,
       3},
      {"GroupQueryAttention",
       {{{2, 3, 64}}, none, none, none, none, {{2}, DType::I32, {2, 2}}, {{}, DType::I32, {3}}, {{8, 4}}, {{8, 4}}},
       {{"num_heads", int64_t(4)}, {"kv_num_heads", two}, {"do_rotary", one}},
       17,
       3},
      {"GroupQueryAttention",
       {{{2, 1, 32}},
        {{2, 1, 16}},
        {{2, 1, 16}},
        {{2, 2, 6, 8}},
        {{2, 2, 6, 8}},
        {{2}, DType::I32, {3, 1}},
        {{}, DType::I32, {4}},
        {{8, 4}},
        {{8, 4}}},
       {{"num_heads", int64_t(4)},
        {"kv_num_heads", two},
        {"do_rotary", one},
        {"local_window_size", two},
        {"softcap", 3.0f},
        {"smooth_softmax", one}},
       17,
       3},
      {"GroupQueryAttention",
       {{{1, 2, 16}},
        {{1, 2, 16}},
        {{1, 2, 16}},
        {{1, 2, 3, 8}},
        {{1, 2, 3, 8}},
        {{1}, DType::I32, {4}},
        {{}, DType::I32, {5}},
        none,
        none,
        none,
        {{1, 2, 2, 5}},
        {{2}}},
       {{"num_heads", two}, {"kv_num_heads", two}},
       17,
       3},
      {"RotaryEmbedding", {{{2, 3, 16}}, {{1}, DType::I64, {2}}, {{8, 4}}, {{8, 4}}}, {{"interleaved", one}}},
      {"RotaryEmbedding",
       {{{2, 3, 16}}, {{2, 3}, DType::I64, {0, 1, 2, 5, 6, 7}}, {{8, 2}}, {{8, 2}}},
       {{"num_heads", two}, {"rotary_embedding_dim", int64_t(4)}}},
      {"QAttention",
       {{{2, 3, 4}, DType::U8},
        {{4, 24}, DType::U8},
        {{24}},
        {{}},
        {{24}},
        {{2}, DType::I32, {2, 3}},
        {{}, DType::U8},
        {{24}, DType::U8}},
       {{"num_heads", two}}},
  };
  for (Case &test : cases)
    test.domain = "com.microsoft";
  return cases;
}

/// Scales are constants, as in any quantized model: random ones may be next to 0, and a step of the result anywhere.
std::vector<Case> fusedQuantizations() {
  std::vector<int64_t> bytes(5 * 2 * 8);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<int64_t>(i * 37 % 256);
  int64_t k = 32, n = 5, block = 16, bits = 4, odd = 30;
  std::vector<Case> cases = {
      {"MatMulNBits",
       {{{2, 3, 32}}, {{5, 2, 8}, DType::U8, bytes}, {{5, 2}}},
       {{"K", k}, {"N", n}, {"block_size", block}, {"bits", bits}}},
      {"MatMulNBits",
       {{{3, 30}}, {{5, 2, 8}, DType::U8, bytes}, {{10}}, {{5, 1}, DType::U8, {7, 129, 66, 255, 16}}},
       {{"K", odd}, {"N", n}, {"block_size", block}, {"bits", bits}}},
      {"MatMulNBits",
       {{{3, 32}}, {{5, 2, 8}, DType::U8, bytes}, {{5, 2}}, {{5, 2}}},
       {{"K", k}, {"N", n}, {"block_size", block}, {"bits", bits}}},
      {"GatherBlockQuantized",
       {{{5, 16}, DType::U8, bytes},
        {{2, 2}, DType::I64, {0, 4, 2, 2}},
        {{5, 2}},
        {{5, 1}, DType::U8, {7, 129, 66, 255, 16}}},
       {{"block_size", block}}},
  };
  for (Case &test : cases)
    test.domain = "com.microsoft";
  return cases;
}

std::vector<Case> convolutions() {
  using List = std::vector<int64_t>;
  return {
      {"Conv", {{{1, 3, 7, 8}}, {{4, 3, 3, 3}}, {{4}}}, {{"pads", List{1, 1, 1, 1}}, {"strides", List{2, 1}}}},
      {"Conv", {{{2, 3, 5, 5}}, {{4, 3, 1, 1}}}},
      {"Conv", {{{2, 3, 5, 5}}, {{4, 3, 1, 1}}}, {{"strides", List{2, 2}}}},
      {"Conv", {{{1, 4, 6, 6}}, {{4, 1, 3, 3}}}, {{"group", int64_t(4)}, {"dilations", List{2, 2}}}},
      {"Conv", {{{1, 2, 6, 6}}, {{6, 1, 3, 3}}, {{6}}}, {{"group", int64_t(2)}}},
      {"Conv", {{{1, 4, 6, 6}}, {{6, 2, 3, 3}}}, {{"group", int64_t(2)}, {"auto_pad", std::string("SAME_UPPER")}}},
      {"Conv", {{{1, 3, 10}}, {{2, 3, 4}}}, {{"auto_pad", std::string("SAME_LOWER")}, {"strides", List{2}}}},
      {"Conv", {{{1, 2, 4, 5, 6}}, {{3, 2, 2, 2, 2}}}},
      // Taps that only meet padding
      {"Conv", {{{1, 3, 1, 1}}, {{4, 3, 3, 3}}}, {{"pads", List{1, 1, 1, 1}}}},
      {"Conv", {{{1, 3, 2, 3}}, {{4, 3, 7, 5}}, {{4}}}, {{"pads", List{3, 4, 3, 4}}, {"strides", List{2, 1}}}},
      {"Conv", {{{1, 3, 2, 2}}, {{4, 3, 3, 3}}}, {{"pads", List{2, 3, 2, 3}}, {"dilations", List{2, 3}}}},
      {"Conv",
       {{{1, 4, 1, 2}}, {{4, 1, 3, 3}}},
       {{"group", int64_t(4)}, {"pads", List{1, 1, 1, 1}}, {"strides", List{2, 2}}}},
      {"Conv", {{{1, 3, 1}}, {{2, 3, 5}}}, {{"pads", List{7, 0}}}},
      {"MaxPool",
       {{{1, 3, 7, 8}}},
       {{"kernel_shape", List{3, 2}}, {"strides", List{2, 2}}, {"pads", List{1, 0, 1, 1}}}},
      {"MaxPool", {{{1, 3, 7, 8}}}, {{"kernel_shape", List{3, 3}}, {"strides", List{2, 2}}, {"ceil_mode", int64_t(1)}}},
      {"MaxPool", {{{1, 3, 7}, DType::U8}}, {{"kernel_shape", List{3}}}},
      {"AveragePool", {{{1, 3, 7, 8}}}, {{"kernel_shape", List{3, 3}}, {"pads", List{1, 1, 1, 1}}}},
      {"AveragePool",
       {{{1, 3, 7, 8}}},
       {{"kernel_shape", List{3, 3}}, {"pads", List{1, 1, 1, 1}}, {"count_include_pad", int64_t(1)}}},
      {"AveragePool",
       {{{1, 3, 7, 8}}},
       {{"kernel_shape", List{2, 2}}, {"strides", List{2, 2}}, {"ceil_mode", int64_t(1)}}},
      {"GlobalAveragePool", {{{2, 3, 4, 5}}}},
      {"GlobalMaxPool", {{{2, 3, 4, 5}}}},
      {"ConvTranspose", {{{1, 3, 4, 5}}, {{3, 2, 3, 3}}, {{2}}}},
      {"ConvTranspose",
       {{{1, 3, 4, 5}}, {{3, 2, 3, 2}}},
       {{"strides", List{2, 3}}, {"pads", List{1, 0, 1, 1}}, {"output_padding", List{1, 0}}}},
      {"ConvTranspose", {{{1, 4, 5}}, {{4, 1, 3}}}, {{"group", int64_t(2)}, {"dilations", List{2}}}},
      {"ConvTranspose",
       {{{1, 2, 4, 4}}, {{2, 3, 3, 3}}},
       {{"strides", List{2, 2}}, {"auto_pad", std::string("SAME_UPPER")}}},
      {"ConvTranspose", {{{1, 2, 4}}, {{2, 3, 3}}}, {{"strides", List{3}}, {"output_shape", List{10}}}},
      {"ConvTranspose", {{{1, 2, 4}}, {{2, 3, 1}}}, {{"strides", List{2}}}},
      // By phases, where the weights are constants and the stride divides the result.
      {"ConvTranspose", {{{2, 3, 4, 5}}, weights({3, 2, 2, 2}), {{2}}}, {{"strides", List{2, 2}}}},
      {"ConvTranspose", {{{1, 3, 4, 5}}, weights({3, 2, 4, 4})}, {{"strides", List{2, 2}}, {"pads", List{1, 1, 1, 1}}}},
      {"ConvTranspose",
       {{{1, 3, 4, 5}}, weights({3, 2, 3, 3})},
       {{"strides", List{2, 2}}, {"pads", List{1, 1, 1, 1}}, {"output_padding", List{1, 1}}}},
      {"ConvTranspose", {{{1, 2, 4, 3}}, weights({2, 3, 1, 5})}, {{"strides", List{1, 3}}, {"pads", List{0, 2, 0, 0}}}},
      {"ConvTranspose", {{{1, 2, 4}}, weights({2, 3, 2})}, {{"strides", List{4}}, {"output_padding", List{2}}}},
      {"ConvTranspose", {{{1, 2, 4}}, weights({2, 3, 7})}, {{"strides", List{2}}, {"pads", List{6, 5}}}},
      {"ConvTranspose", {{{1, 2, 4}}, weights({2, 3, 2})}, {{"strides", List{2}}, {"pads", List{2, 2}}}},
      {"ConvTranspose", {{{1, 2, 4}}, {{2, 3, 1}}}, {{"strides", List{3}}, {"pads", List{1, 2}}}},
      {"ConvInteger", {{{1, 2, 5, 5}, DType::U8}, {{3, 2, 3, 3}, DType::U8}, {{}, DType::U8}}},
      {"LpPool", {{{1, 2, 6}}}, {{"kernel_shape", List{2}}, {"strides", List{2}}}},
  };
}

std::vector<Case> grids() {
  std::vector<Case> cases;
  for (const char *mode : {"linear", "nearest", "cubic"})
    for (const char *padding : {"zeros", "border", "reflection"})
      for (int64_t alignCorners : {0, 1}) // sampleTensor gives places up to twice the image away
        cases.push_back(
            {"GridSample",
             {{{2, 3, 4, 5}}, {{2, 3, 2, 2}}},
             {{"mode", std::string(mode)}, {"padding_mode", std::string(padding)}, {"align_corners", alignCorners}},
             20});
  cases.push_back({"GridSample", {{{1, 2, 3, 4}}, {{1, 5, 1, 2}}}, {{"mode", std::string("bilinear")}}, 16});
  cases.push_back({"GridSample", {{{1, 2, 3, 4, 5}}, {{1, 2, 3, 2, 3}}}, {}, 20});
  cases.push_back({"GridSample",
                   {{{1, 2, 1, 4}}, {{1, 2, 3, 2}}},
                   {{"padding_mode", std::string("reflection")}, {"align_corners", int64_t(1)}},
                   20});
  cases.push_back({"AffineGrid", {{{2, 2, 3}}, {{4}, DType::I64, {2, 3, 4, 5}}}, {}, 20});
  cases.push_back(
      {"AffineGrid", {{{1, 3, 4}}, {{5}, DType::I64, {1, 2, 3, 1, 4}}}, {{"align_corners", int64_t(1)}}, 20});
  return cases;
}

std::vector<Case> quantizations() {
  return {
      {"QuantizeLinear", {{{3, 4}}, {{}}, {{}, DType::U8}}},
      {"DynamicQuantizeLinear", {{{3, 4}}}, {}, 17, 3},
      {"DequantizeLinear", {{{3, 4}, DType::U8}, {{}}, {{}, DType::U8}}},
      {"DequantizeLinear", {{{2, 3, 4}, DType::U8}, {{3}}, {{3}, DType::U8}}},
  };
}

std::vector<Case> recurrences() {
  std::vector<Case> cases;
  for (auto [op, gates, outputs] : {std::tuple("RNN", 1, 2), std::tuple("GRU", 3, 2), std::tuple("LSTM", 4, 3)}) {
    auto inputs = [&, gates = gates](int64_t directions) {
      return std::vector<Input>{
          {{5, 2, 3}}, {{directions, gates * 4, 3}}, {{directions, gates * 4, 4}}, {{directions, gates * 8}}};
    };
    cases.push_back({op, inputs(1), {{"hidden_size", int64_t(4)}}, 17, outputs});
    cases.push_back({op, inputs(1), {{"hidden_size", int64_t(4)}, {"direction", std::string("reverse")}}, 17, outputs});
    cases.push_back(
        {op, inputs(2), {{"hidden_size", int64_t(4)}, {"direction", std::string("bidirectional")}}, 17, outputs});
  }
  cases.push_back({"GRU",
                   {{{5, 2, 3}}, {{1, 12, 3}}, {{1, 12, 4}}, {{1, 24}}},
                   {{"hidden_size", int64_t(4)}, {"linear_before_reset", int64_t(1)}},
                   17,
                   2});
  cases.push_back({"LSTM",
                   {{{2, 5, 3}}, {{1, 16, 3}}, {{1, 16, 4}}},
                   {{"hidden_size", int64_t(4)}, {"layout", int64_t(1)}},
                   17,
                   3});
  return cases;
}

std::string caseName(const testing::TestParamInfo<Case> &info) {
  return info.param.op + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(Elementwise, HandlersTest, testing::ValuesIn(elementwise()), caseName);
INSTANTIATE_TEST_SUITE_P(NarrowCasts, HandlersTest, testing::ValuesIn(narrowCasts()), caseName);
INSTANTIATE_TEST_SUITE_P(Signals, HandlersTest, testing::ValuesIn(signals()), caseName);
INSTANTIATE_TEST_SUITE_P(Products, HandlersTest, testing::ValuesIn(products()), caseName);
INSTANTIATE_TEST_SUITE_P(Shapes, HandlersTest, testing::ValuesIn(shapes()), caseName);
INSTANTIATE_TEST_SUITE_P(Reductions, HandlersTest, testing::ValuesIn(reductions()), caseName);
INSTANTIATE_TEST_SUITE_P(Normalizations, HandlersTest, testing::ValuesIn(normalizations()), caseName);
INSTANTIATE_TEST_SUITE_P(Attentions, HandlersTest, testing::ValuesIn(attentions()), caseName);
INSTANTIATE_TEST_SUITE_P(FusedProducts, HandlersTest, testing::ValuesIn(fusedProducts()), caseName);
INSTANTIATE_TEST_SUITE_P(FusedAttentions, HandlersTest, testing::ValuesIn(fusedAttentions()), caseName);
INSTANTIATE_TEST_SUITE_P(FusedQuantizations, HandlersTest, testing::ValuesIn(fusedQuantizations()), caseName);
INSTANTIATE_TEST_SUITE_P(Grids, HandlersTest, testing::ValuesIn(grids()), caseName);
INSTANTIATE_TEST_SUITE_P(Convolutions, HandlersTest, testing::ValuesIn(convolutions()), caseName);
INSTANTIATE_TEST_SUITE_P(Recurrences, HandlersTest, testing::ValuesIn(recurrences()), caseName);
INSTANTIATE_TEST_SUITE_P(Quantizations, HandlersTest, testing::ValuesIn(quantizations()), caseName);

TEST(OpTableTest, IsOrderedSoThatLookupMayHalve) {
  auto key = [](const OpRow &row) { return std::tuple(row.domain, row.op, row.since); };
  for (size_t i = 1; i < opTable().size(); ++i)
    EXPECT_LT(key(opTable()[i - 1]), key(opTable()[i])) << opTable()[i].op;
}

TEST(OpTableTest, FindsTheNewestRowThatHolds) {
  EXPECT_NE(findHandler("", "Clip", 10), findHandler("", "Clip", 11));
  EXPECT_EQ(findHandler("", "Clip", 13), findHandler("", "Clip", 11));
  EXPECT_EQ(findHandler("", "Gelu", 19), nullptr);
  EXPECT_EQ(findHandler("nowhere", "Add", 13), nullptr);
}

} // namespace
