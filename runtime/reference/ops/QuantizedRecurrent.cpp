// com.microsoft's LSTM with weights of bytes: what a step multiplies is quantized as the step comes, so the standard LSTM runs step by
// step.
#include "runtime/reference/Compose.h"
#include "runtime/reference/Kernels.h"

namespace tilewright::reference {

/// Number `i` of the first dimension, which stays, of size 1.
static Tensor partOf(const Tensor &x, int64_t i) {
  Tensor index = Tensor::allocate(DType::I64, {1});
  index.data<int64_t>()[0] = i;
  return composed("Gather", {x, index});
}

/// x as bytes see it: quantized by its own range, and back.
static Tensor throughBytes(const Tensor &x) { return composed("DequantizeLinear", composedAll("DynamicQuantizeLinear", {x}, {}, 3)); }

/// Weights [1, K, gates] of one direction as the standard operator has them: floats [1, gates, K].
static Tensor weightsOf(Call &call, int64_t input, int64_t scale, int64_t direction) {
  Tensor number = composed("Sub", {wide(partOf(call.input(input), direction)), wide(partOf(call.input(scale + 1), direction))});
  Tensor real = composed("Mul", {number, wide(partOf(call.input(scale), direction))});
  return convert(composed("Transpose", {real}, {{"perm", std::vector<int64_t>{0, 2, 1}}}), DType::F32);
}

static Tensor joined(const std::vector<Tensor> &parts, int64_t axis) { return composed("Concat", parts, {{"axis", axis}}); }

/// The attributes of one direction: three activations, and what both share.
static Attributes attributesOf(Call &call, int64_t direction) {
  Attributes attributes = selected(call, {"hidden_size", "clip", "input_forget"});
  if (auto activations = call.texts("activations")) {
    require(activations->size() >= 3 * (static_cast<size_t>(direction) + 1), "expected 3 activations for each direction, found {}",
            activations->size());
    attributes["activations"] = std::vector<std::string>(activations->begin() + 3 * direction, activations->begin() + 3 * direction + 3);
  }
  return attributes;
}

/// X [T, B, I], W [D, I, 4H], R [D, H, 4H] of bytes, B, lengths, initial h and c, P, then scale and zero point of W and of R. As ONNX
/// Runtime computes it, the input is quantized once for all steps and the state before each.
void dynamicQuantizeLstm(Call &call) {
  const Tensor &x = call.input(0);
  require(x.rank() == 3 && call.input(1).rank() == 3 && call.input(2).rank() == 3,
          "expected input and weights of rank 3, found {}, {} and {}", x.shape(), call.input(1).shape(), call.input(2).shape());
  std::string direction = call.text("direction", "forward");
  int64_t steps = x.shape()[0], batch = x.shape()[1], hidden = call.input(2).shape()[1], directions = direction == "bidirectional" ? 2 : 1;
  require(call.input(1).shape()[0] == directions && steps > 0, "expected weights of {} directions and a step or more, found {} and {}",
          directions, call.input(1).shape(), steps);
  if (call.has(4))
    for (int64_t length : call.indices(4))
      if (length != steps)
        unsupported("sequences of different lengths are not supported");
  if (call.hasAttribute("activation_alpha") || call.hasAttribute("activation_beta"))
    unsupported("activations with parameters are not supported");
  Tensor bytes = throughBytes(x);
  auto optional = [&](int64_t input, int64_t d) { return call.has(input) ? partOf(call.input(input), d) : Tensor(); };
  std::vector<Tensor> all, lastHidden, lastCell;
  for (int64_t d = 0; d < directions; ++d) {
    Tensor w = weightsOf(call, 1, 8, d), r = weightsOf(call, 2, 10, d);
    Tensor h = call.has(5) ? partOf(call.input(5), d) : allocate(DType::F32, {1, batch, hidden});
    Tensor c = call.has(6) ? partOf(call.input(6), d) : allocate(DType::F32, {1, batch, hidden});
    bool backwards = direction == "reverse" || d == 1;
    std::vector<Tensor> outputs(static_cast<size_t>(steps));
    for (int64_t i = 0; i < steps; ++i) {
      int64_t t = backwards ? steps - 1 - i : i;
      std::vector<Tensor> step = composedAll("LSTM", {partOf(bytes, t), w, r, optional(3, d), Tensor(), throughBytes(h), c, optional(7, d)},
                                             attributesOf(call, d), 3, 14);
      outputs[static_cast<size_t>(t)] = step[0], h = step[1], c = step[2];
    }
    all.push_back(joined(outputs, 0)), lastHidden.push_back(h), lastCell.push_back(c);
  }
  if (call.wants(0))
    call.give(0, joined(all, 1));
  if (call.wants(1))
    call.give(1, joined(lastHidden, 0));
  if (call.wants(2))
    call.give(2, joined(lastCell, 0));
}

} // namespace tilewright::reference
