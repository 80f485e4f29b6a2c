// SPDX-License-Identifier: Apache-2.0
// graph.host_call: an operator that runs through the reference. Infers its result types and converts its attributes.
#pragma once

#include "frontend/builder/NodeBuilder.h"

#include "onnx/onnx.pb.h"

namespace tilewright {

/// Emits the call and fills the node's outputs. Result types are inferred by running the reference kernel on zeros (or
/// on the actual contents of an input where the import knows them), or taken from the model's value_info. A size that
/// the operator computes, or that depends on data, becomes a fresh symbol. Unsupported if a rank remains unknown.
Status buildHostCall(NodeBuilder &builder, llvm::ArrayRef<const onnx::ValueInfoProto *> declared);

/// The attributes of a host call in the form that the reference takes.
Attributes referenceAttributes(graph::HostCallOp call);

} // namespace tilewright
