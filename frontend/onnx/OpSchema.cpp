// SPDX-License-Identifier: Apache-2.0
// The table of schemas, and the check of a node against it.
#include "frontend/onnx/OpSchema.h"

#include "frontend/state/ImportFailure.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace tilewright {
namespace {

constexpr int32_t many = std::numeric_limits<int32_t>::max();

#include "frontend/onnx/OpSchemas.inc"

/// The kinds of attributes, in the order of the alternatives of Attribute.
struct Kind {
  char letter;
  std::string_view name;
};
constexpr Kind kinds[] = {
    {'i', "an integer"},       {'f', "a float"},           {'s', "a string"}, {'I', "a list of integers"},
    {'F', "a list of floats"}, {'S', "a list of strings"}, {'t', "a tensor"}};

std::string_view kindName(char letter) {
  auto found = std::ranges::find(kinds, letter, &Kind::letter);
  return found == std::end(kinds) ? "another kind" : found->name;
}

std::string countText(int32_t least, int32_t most) {
  return least == most  ? fmt::format("{}", least)
         : most == many ? fmt::format("at least {}", least)
                        : fmt::format("{} to {}", least, most);
}

void checkCount(std::string_view what, int32_t found, int32_t least, int32_t most) {
  if (found < least || found > most)
    malformed("expected {} {}{}, got {}", countText(least, most), what, least == most && most == 1 ? "" : "s", found);
}

/// The names of the types in a set, abbreviated if there are many.
std::string typeText(uint64_t set) {
  std::string names;
  int shown = 0, left = 0;
  for (const DTypeInfo &row : dtypeTable)
    if (set >> static_cast<int>(row.type) & 1)
      shown < 8 ? (names += (shown++ ? ", " : "") + std::string(row.name)) : (++left, names);
  return names.empty() ? "no tensor" : left ? fmt::format("{} or {} others", names, left) : names;
}

void checkInputs(const OpSchema &schema, const NodeBuilder::Node &node) {
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(schema.inputs, words);
  std::array<const ImportedValue *, 26> ofVariable = {};
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    llvm::StringRef word = words.empty() ? "" : words[std::min(i, words.size() - 1)];
    const ImportedValue *value = node.inputs[i];
    unsigned set = 0;
    bool isTensor = value && (findDType(value->type) ||
                              value->type == DType::String); // whose codes are ONNX's, and bits of the sets
    if (!isTensor || word.drop_front().rtrim('+').getAsInteger(10, set) || set >= std::size(typeSets))
      continue;
    if (!(typeSets[set] >> static_cast<int>(value->type) & 1))
      malformed("input {} ('{}') is {}, expected {}", i, value->name, name(value->type), typeText(typeSets[set]));
    if (word.front() == '-')
      continue;
    const ImportedValue *&first = ofVariable[word.front() - 'a'];
    first = first ? first : value;
    if (first->type != value->type)
      malformed("input {} ('{}') is {}, expected {} as '{}' is", i, value->name, name(value->type), name(first->type),
                first->name);
  }
}

void checkAttributes(const OpSchema &schema, const onnx::NodeProto &proto, const NodeBuilder::Node &node) {
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(schema.attributes, words);
  for (llvm::StringRef word : words) {
    auto [name, kind] = word.split('=');
    auto found = node.attributes.find(std::string_view(name));
    if (found != node.attributes.end() && kinds[found->second.index()].letter != kind.front())
      malformed("attribute '{}' is {}, expected {}", name.str(), kinds[found->second.index()].name,
                kindName(kind.front()));
    auto sameName = [&, wanted = name](const onnx::AttributeProto &attribute) {
      return attribute.name() == std::string_view(wanted);
    };
    if (kind.ends_with("!") && found == node.attributes.end() && std::ranges::none_of(proto.attribute(), sameName))
      malformed("expected the attribute '{}', which must be given", name.str());
  }
}

} // namespace

const OpSchema *findSchema(std::string_view domain, std::string_view op, int64_t opset) {
  auto key = [](const OpSchema &row) { return std::tuple(row.domain, row.op, row.since); };
  const OpSchema *next = std::ranges::upper_bound(schemas, std::tuple(domain, op, opset), {}, key);
  return next == std::begin(schemas) || std::prev(next)->domain != domain || std::prev(next)->op != op
             ? nullptr
             : std::prev(next);
}

void checkSchema(const onnx::NodeProto &proto, const NodeBuilder::Node &node) {
  const OpSchema *schema = findSchema(node.domain, node.op, node.opset);
  if (!schema)
    return;
  // Empty names at the end are absent inputs, but they count toward the minimum: Resize-11 lists an empty `roi`.
  int32_t given = std::clamp(schema->leastInputs, static_cast<int32_t>(node.inputs.size()),
                             std::max<int32_t>(proto.input_size(), node.inputs.size()));
  checkCount("input", given, schema->leastInputs, schema->mostInputs);
  checkCount("output", proto.output_size(), schema->leastOutputs, schema->mostOutputs);
  checkInputs(*schema, node);
  checkAttributes(*schema, proto, node);
}

} // namespace tilewright
