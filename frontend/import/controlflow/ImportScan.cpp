// SPDX-License-Identifier: Apache-2.0
// Scan, as a loop over slices of its inputs.
#include "frontend/import/GeneratedNode.h"
#include "frontend/import/controlflow/LoopForm.h"

using namespace mlir;

namespace tilewright {
namespace {

std::vector<int64_t> integersOf(const onnx::NodeProto &proto, std::string_view name, size_t count) {
  for (const auto &attribute : proto.attribute())
    if (attribute.name() == name) {
      if (attribute.ints_size() != static_cast<int>(count))
        malformed("expected {} numbers in {}, got {}", count, name, attribute.ints_size());
      return {attribute.ints().begin(), attribute.ints().end()};
    }
  return std::vector<int64_t>(count, 0);
}

int64_t integerOf(const onnx::NodeProto &proto, std::string_view name) {
  for (const auto &attribute : proto.attribute())
    if (attribute.name() == name)
      return attribute.i();
  return 0;
}

} // namespace

/// Transposes a value so that dimension `from` becomes dimension `to`.
ImportedValue *ModelImporter::moveDimension(ImportedValue &value, int64_t from, int64_t to) {
  if (from < 0 || from >= value.rank() || to < 0 || to >= value.rank())
    malformed("expected an axis of '{}', which has rank {}, got {}", value.name, value.rank(), std::max(from, to));
  SmallVector<int64_t> perm;
  for (int64_t i = 0; i < value.rank(); ++i)
    if (i != from)
      perm.push_back(i);
  perm.insert(perm.begin() + to, from);
  ImportedValue *moved = state.newValue(value.name);
  moved->type = value.type;
  for (int64_t dim : perm)
    moved->sizes.push_back(value.sizes[dim]);
  moved->value = graph::TransposeOp::create(state.builder, state.location,
                                            state.tensorType(moved->sizes, elementType(state.context, value.type)),
                                            state.materialize(value), perm);
  return moved;
}

void ModelImporter::importScan(const onnx::NodeProto &proto, Scope &scope) {
  LoopForm form;
  form.graph = &graphAttribute(proto, "body");
  int64_t scans = integerOf(proto, "num_scan_inputs"), states = proto.input_size() - scans;
  if (scans < 1 || states < 0)
    malformed("expected 1 to {} scanned inputs, got num_scan_inputs {}", proto.input_size(), scans);
  for (int i = 0; i < states; ++i)
    form.initial.push_back(lookup(proto.input(i), scope, "it"));
  Operation *last = lastOperation();
  std::vector<int64_t> axes = integersOf(proto, "scan_input_axes", scans);
  for (int i = 0; i < scans; ++i) {
    ImportedValue *value = lookup(proto.input(static_cast<int>(states) + i), scope, "it");
    if (isObject(value->type))
      unsupported("it scans a {}", name(value->type));
    int64_t axis = axes[i] < 0 ? axes[i] + value->rank() : axes[i];
    if (axis < 0 || axis >= value->rank())
      malformed("expected an axis of '{}', which has rank {}, got {}", value->name, value->rank(), axes[i]);
    form.scanned.push_back(axis == 0 ? value : moveDimension(*value, axis, 0));
    AffineExpr first = form.scanned[0]->sizes[0], own = form.scanned[i]->sizes[0];
    if (!state.unify(first, own))
      malformed("expected as many slices of '{}' as of '{}', got {} and {}", value->name, form.scanned[0]->name,
                state.print(own), state.print(first));
  }
  int64_t collected = form.graph->output_size() - states;
  if (collected < 0 || proto.output_size() > form.graph->output_size())
    malformed("expected a body of at least {} outputs, got {}", std::max<int64_t>(states, proto.output_size()),
              form.graph->output_size());
  form.collectedAxes = integersOf(proto, "scan_output_axes", collected);
  for (int64_t direction : integersOf(proto, "scan_input_directions", scans))
    form.reverseScanned.push_back(direction != 0);
  for (int64_t direction : integersOf(proto, "scan_output_directions", collected))
    form.reverseCollected.push_back(direction != 0);
  labelNewOperations(nodeName(proto, scope), "Scan", last);
  importLoopForm(proto, form, scope);
}

/// Scan of opset 8: every input has a batch dimension in front of the scanned one. Imported as a Scan over the batch
/// whose body is a Scan.
void ModelImporter::importBatchedScan(const onnx::NodeProto &proto, Scope &scope) {
  if (proto.input_size() < 2 || !proto.input(0).empty())
    unsupported("sequence_lens of opset 8 is not supported");
  int64_t scans = integerOf(proto, "num_scan_inputs"), count = proto.input_size() - 1;
  onnx::NodeProto &outer = generated->emplace_back(), inner;
  outer.set_op_type("Scan"), inner.set_op_type("Scan");
  outer.set_name(nodeName(proto, scope)), inner.set_name(nodeName(proto, scope) + "/batch");
  auto setForm = [](onnx::NodeProto &node, int64_t scanned) {
    addInteger(node, "num_scan_inputs", scanned);
    onnx::AttributeProto *axes = addAttribute(node, "scan_input_axes", onnx::AttributeProto::INTS);
    for (int64_t i = 0; i < scanned; ++i)
      axes->add_ints(0);
  };
  setForm(outer, count), setForm(inner, scans);
  for (const auto &attribute : proto.attribute())
    if (attribute.name() == "body" || attribute.name() == "directions") {
      onnx::AttributeProto &kept = *inner.add_attribute() = attribute;
      kept.set_name(attribute.name() == "body" ? "body" : "scan_input_directions");
    }
  onnx::GraphProto &graph = *addAttribute(outer, "body", onnx::AttributeProto::GRAPH)->mutable_g();
  for (int i = 0; i < count; ++i) {
    std::string name = fmt::format("{}/of_batch/{}", inner.name(), proto.input(i + 1));
    outer.add_input(proto.input(i + 1));
    graph.add_input()->set_name(name);
    inner.add_input(name);
  }
  for (const std::string &output : proto.output()) {
    outer.add_output(output);
    inner.add_output(fmt::format("{}/of_batch/{}", inner.name(), output));
    graph.add_output()->set_name(inner.output(inner.output_size() - 1));
  }
  *graph.add_node() = std::move(inner);
  importScan(outer, scope);
}

} // namespace tilewright
