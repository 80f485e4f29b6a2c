// SPDX-License-Identifier: Apache-2.0
// ONNX nodes that the importer generates: it expands some operators into simpler ones, which it then imports.
#pragma once

#include "onnx/onnx.pb.h"

#include <string>
#include <string_view>

namespace tilewright {

/// The domain of operators that only the importer generates. No model may import it or define functions in it.
inline constexpr std::string_view ownDomain = "tilewright";

inline onnx::AttributeProto *addAttribute(onnx::NodeProto &node, std::string_view name,
                                          onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto *attribute = node.add_attribute();
  attribute->set_name(std::string(name)), attribute->set_type(type);
  return attribute;
}

inline void addInteger(onnx::NodeProto &node, std::string_view name, int64_t value) {
  addAttribute(node, name, onnx::AttributeProto::INT)->set_i(value);
}

} // namespace tilewright
