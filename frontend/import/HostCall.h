// graph.host_call: what the reference kernel will return, and how attributes travel.
#pragma once

#include "frontend/builder/NodeBuilder.h"

#include "onnx/onnx.pb.h"

namespace tilewright {

/// Emits the call and fills the node's outputs. Result types come from running the kernel on zeros (known contents
/// where the import knows them), or from the model's value_info; a size that the operator computes, or that depends on
/// data, becomes a fresh symbol. Unsupported if even the ranks stay unknown.
Status buildHostCall(NodeBuilder &builder, llvm::ArrayRef<const onnx::ValueInfoProto *> declared);

/// The attributes of a host call, as the runtime's reference takes them.
Attributes referenceAttributes(graph::HostCallOp call);

} // namespace tilewright
