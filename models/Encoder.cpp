// SPDX-License-Identifier: Apache-2.0
// A transformer encoder: post-norm layers of self-attention and a GELU MLP, with composite ONNX operators or with
// primitives.
//
//   x -> q, k, v = x W + b          [batch, seq, hidden] -> [batch, heads, seq, headSize]
//   a  = softmax(q k^T / sqrt(headSize)) v
//   x  = layerNorm(x + a W + b);  x = layerNorm(x + mlp(x))
#include "models/Demos.h"

#include <cmath>

using namespace tilewright::models;

namespace {

constexpr int64_t layers = 4, hidden = 256, heads = 4, headSize = hidden / heads, feedForward = 1024;

/// Which forms of the composite operators to use.
struct Spelling {
  Value (*layerNorm)(ModelBuilder &, const std::string &name, const Value &x);
  Value (*softmax)(ModelBuilder &, const std::string &name, const Value &x);
};

Value layerNormNode(ModelBuilder &m, const std::string &name, const Value &x) { return m.layerNorm(name, x, hidden); }

Value softmaxNode(ModelBuilder &m, const std::string &name, const Value &x) {
  return m.op("Softmax", {x}, {{"axis", int64_t(-1)}}, name);
}

Value layerNormPrimitives(ModelBuilder &m, const std::string &name, const Value &x) {
  std::vector<int64_t> last = {-1};
  Value mean = m.op("ReduceMean", {x}, {{"axes", last}}, name + ".mean");
  Value centred = m.op("Sub", {x, mean}, {}, name + ".centre");
  Value squares = m.op("Pow", {centred, m.scalar(name + ".two", 2)}, {}, name + ".square");
  Value variance = m.op("ReduceMean", {squares}, {{"axes", last}}, name + ".variance");
  Value stable = m.op("Add", {variance, m.scalar(name + ".epsilon", 1e-5)}, {}, name + ".stabilize");
  Value deviation = m.op("Sqrt", {stable}, {}, name + ".deviation");
  Value normal = m.op("Div", {centred, deviation}, {}, name + ".normalize");
  Value scaled = m.op("Mul", {normal, m.weight(name + ".scale", {hidden}, 0.1, 1.0)}, {}, name + ".scaled");
  return m.op("Add", {scaled, m.weight(name + ".bias", {hidden}, 0.1)}, {}, name + ".shifted");
}

Value softmaxPrimitives(ModelBuilder &m, const std::string &name, const Value &x) {
  Value largest = m.op("ReduceMax", {x}, {{"axes", std::vector<int64_t>{-1}}}, name + ".max");
  Value exponentials = m.op("Exp", {m.op("Sub", {x, largest}, {}, name + ".sub")}, {}, name + ".exp");
  Value sum = m.op("ReduceSum", {exponentials, m.integers(name + ".axes", {-1})}, {}, name + ".sum");
  return m.op("Div", {exponentials, sum}, {}, name + ".div");
}

/// One projection, split into heads: [batch, seq, hidden] -> [batch, heads, seq, headSize], or with the last two
/// swapped for k.
Value project(ModelBuilder &m, const std::string &name, const Value &x, std::vector<int64_t> order) {
  Value projected = m.linear(name, x, hidden, hidden);
  Value split = m.op("Reshape", {projected, m.integers(name + ".shape", {0, 0, heads, headSize})}, {}, name + ".split");
  return m.op("Transpose", {split}, {{"perm", std::move(order)}}, name + ".transpose");
}

Value attention(ModelBuilder &m, const std::string &name, const Value &x, const Spelling &spelling) {
  Value q = project(m, name + ".q", x, {0, 2, 1, 3});
  Value k = project(m, name + ".k", x, {0, 2, 3, 1});
  Value v = project(m, name + ".v", x, {0, 2, 1, 3});
  Value scores = m.op("MatMul", {q, k}, {}, name + ".scores");
  Value scaled = m.op("Div", {scores, m.scalar(name + ".root", std::sqrt(double(headSize)))}, {}, name + ".scale");
  Value mixed = m.op("MatMul", {spelling.softmax(m, name + ".softmax", scaled), v}, {}, name + ".mix");
  Value gathered = m.op("Transpose", {mixed}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}}, name + ".gather");
  Value merged = m.op("Reshape", {gathered, m.integers(name + ".merged", {0, 0, hidden})}, {}, name + ".merge");
  return m.linear(name + ".out", merged, hidden, hidden);
}

void build(ModelBuilder &m, const Spelling &spelling) {
  Value x = m.input("x", {"batch", "seq", hidden});
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::string name = "layer" + std::to_string(layer);
    Value attended = attention(m, name + ".attention", x, spelling);
    x = spelling.layerNorm(m, name + ".norm1", m.op("Add", {x, attended}, {}, name + ".residual1"));
    Value wide = m.gelu(name + ".gelu", m.linear(name + ".up", x, hidden, feedForward));
    Value narrow = m.linear(name + ".down", wide, feedForward, hidden);
    x = spelling.layerNorm(m, name + ".norm2", m.op("Add", {x, narrow}, {}, name + ".residual2"));
  }
  m.output("y", x, {"batch", "seq", hidden});
}

} // namespace

void tilewright::models::buildEncoder(ModelBuilder &m) { build(m, {layerNormNode, softmaxNode}); }

void tilewright::models::buildEncoderDecomposed(ModelBuilder &m) { build(m, {layerNormPrimitives, softmaxPrimitives}); }
