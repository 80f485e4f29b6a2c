// SPDX-License-Identifier: Apache-2.0
// Reads the inputs' types, without importing the model.
#include "tools/tilewright/model/DeclaredShapes.h"

#include "tools/tilewright/model/OnnxModel.h"

#include "frontend/onnx/DimExpression.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tilewright {

/// The name of a dimension's symbol, as in the importer; nothing for an expression.
static std::optional<std::string> symbolName(const onnx::ValueInfoProto &input, int dim) {
  const std::string &text = input.type().tensor_type().shape().dim(dim).dim_param();
  if (text.empty() || text == "?")
    return fmt::format("{}_d{}", input.name(), dim);
  return isDimName(text) ? std::optional(text) : std::nullopt;
}

Expected<std::map<std::string, Shape>> declaredShapes(const std::string &path,
                                                      const std::vector<std::pair<std::string, int64_t>> &sizes) {
  Expected<OnnxModel> model = OnnxModel::read(path);
  TILEWRIGHT_TRY(model);
  const onnx::GraphProto &graph = model->proto().graph();
  std::set<std::string> weights, symbols; // IR 3 lists initializers as inputs too
  for (const onnx::TensorProto &initializer : graph.initializer())
    weights.insert(initializer.name());
  std::map<std::string, Shape> shapes;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    const onnx::TensorShapeProto &declared = input.type().tensor_type().shape();
    if (weights.contains(input.name()) || !input.type().tensor_type().has_shape())
      continue;
    Shape shape;
    for (int i = 0; i < declared.dim_size(); ++i) {
      std::optional<std::string> symbol = symbolName(input, i);
      if (declared.dim(i).has_dim_value() && declared.dim(i).dim_value() >= 0)
        shape.push_back(declared.dim(i).dim_value());
      else if (symbol) {
        auto given = std::ranges::find_if(sizes, [&](const auto &size) { return size.first == *symbol; });
        shape.push_back(given == sizes.end() ? 1 : given->second);
        symbols.insert(*symbol);
      }
    }
    if (static_cast<int>(shape.size()) == declared.dim_size())
      shapes[input.name()] = std::move(shape);
  }
  for (const auto &[name, size] : sizes)
    if (!symbols.contains(name))
      return Status(Code::Usage, fmt::format("--dim {}={}: no size of an input has that name", name, size));
  return shapes;
}

} // namespace tilewright
