// SPDX-License-Identifier: Apache-2.0
// How kernels call kernels, and the small steps that fused operators share.
#include "runtime/reference/Compose.h"

#include "runtime/reference/Kernels.h"
#include "runtime/reference/Move.h"

#include <numeric>

namespace tilewright::reference {

std::vector<Tensor> composedAll(std::string_view op, std::vector<Tensor> inputs, const Attributes &attributes,
                                size_t outputs, int64_t opset) {
  ReferenceCall node{.op = op, .domain = "", .opset = opset, .attributes = &attributes, .outputCount = outputs};
  Kernel kernel = findKernel(op, "", opset);
  if (!kernel)
    throw Failure{Status(Code::Internal,
                         fmt::format("a fused operator is made of {} of opset {}, which has no kernel", op, opset))};
  Call call(node, inputs);
  kernel(call);
  std::vector<Tensor> results = call.takeOutputs();
  results.resize(outputs);
  return results;
}

Tensor composed(std::string_view op, std::vector<Tensor> inputs, const Attributes &attributes, int64_t opset) {
  return composedAll(op, std::move(inputs), attributes, 1, opset)[0];
}

Tensor wideScalar(double value) { return store(DType::F64, {}, std::vector<double>{value}); }

static std::vector<int64_t> rotation(int64_t rank, int64_t from, int64_t to) {
  require(rank >= 3, "expected an image of rank 3 or more, found rank {}", rank);
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return order;
}

Tensor channelsFirst(const Tensor &x) { return transpose(x, rotation(x.rank(), x.rank() - 1, 1)); }
Tensor channelsLast(const Tensor &x) { return transpose(x, rotation(x.rank(), 1, x.rank() - 1)); }

Attributes selected(Call &call, std::initializer_list<std::string_view> names) {
  Attributes result;
  for (std::string_view name : names)
    if (auto found = call.attributes().find(name); found != call.attributes().end())
      result.insert(*found);
  return result;
}

Tensor activated(Call &call, const Tensor &x) {
  std::string name = call.text("activation", "");
  std::vector<float> given = call.reals("activation_params").value_or(std::vector<float>());
  auto parameter = [&](size_t i, std::string_view attribute,
                       float otherwise) { // a list of floats in convolutions, one attribute each in products
    if (i < given.size())
      return given[i];
    return static_cast<float>(call.real(attribute, otherwise));
  };
  if (name.empty())
    return x;
  if (name == "Relu" || name == "Sigmoid" || name == "Tanh" || name == "Softplus" || name == "Softsign")
    return composed(name, {x});
  if (name == "LeakyRelu" || name == "Elu" || name == "ThresholdedRelu")
    return composed(name, {x}, {{"alpha", parameter(0, "activation_alpha", name == "LeakyRelu" ? 0.01f : 1.0f)}});
  if (name == "HardSigmoid")
    return composed(
        name, {x},
        {{"alpha", parameter(0, "activation_alpha", 0.2f)}, {"beta", parameter(1, "activation_beta", 0.5f)}});
  if (name == "Clip")
    return composed(name, {x},
                    {{"min", parameter(0, "activation_alpha", 0)}, {"max", parameter(1, "activation_beta", 0)}}, 6);
  if (name == "HardSwish")
    return composed(name, {x});
  unsupported(fmt::format("the activation '{}' is not known", name));
}

} // namespace tilewright::reference
