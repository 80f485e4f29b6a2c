// SPDX-License-Identifier: Apache-2.0
// The serialized form of every struct of a plan: its fields in order, shared by the writer and the reader.
//
// `Archive` is a FieldWriter or a FieldReader (ArtifactWriter.cpp, Artifact.cpp), called with the fields of a struct in
// file order. A list of fields is part of the artifact's specification (Format.h): appending to one is a new major
// version.
#pragma once

#include "runtime/plan/Plan.h"

#include <type_traits>

namespace tilewright::runtime {

/// Where an entry of the constants pool lies in its section.
struct ConstantEntry {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/// The highest code of each serialized enum; all codes from 0 to it are valid.
template <typename Enum> inline constexpr Enum lastCode = Enum();
template <> inline constexpr ExprKind lastCode<ExprKind> = ExprKind::Max;
template <> inline constexpr ValueKind lastCode<ValueKind> = ValueKind::Zeroed;
template <> inline constexpr BufferAccess lastCode<BufferAccess> = BufferAccess::ReadWrite;
template <> inline constexpr Relation lastCode<Relation> = Relation::LessEqual;
template <> inline constexpr CodeKind lastCode<CodeKind> = CodeKind::Hsaco;
template <> inline constexpr DType lastCode<DType> = DType::Map; // DType has gaps; PlanVerifier rejects those

/// `T` or `const T`: the writer visits const structs, the reader fills them in.
template <typename T, typename Struct>
concept Is = std::is_same_v<std::remove_const_t<T>, Struct>;

template <typename A> void fields(A &archive, Is<Expr> auto &s) { archive(s.kind, s.lhs, s.rhs); }
template <typename A> void fields(A &archive, Is<Symbol> auto &s) { archive(s.name, s.input, s.dim); }
template <typename A> void fields(A &archive, Is<Value> auto &s) {
  archive(s.name, s.dtype, s.kind, s.dims, s.source, s.byteOffset);
}
template <typename A> void fields(A &archive, Is<Kernel> auto &s) {
  archive(s.name, s.form, s.code, s.entry, s.buffers, s.scalars, s.tensorMaps, s.block, s.cluster, s.staticSharedBytes,
          s.dynamicSharedBytes, s.flags);
}
template <typename A> void fields(A &archive, Is<TensorMap> auto &s) {
  archive(s.buffer, s.start, s.sizes, s.strides, s.box, s.rounded, s.lower, s.upper, s.steps);
}
template <typename A> void fields(A &archive, Is<Launch> auto &s) {
  archive(s.kernel, s.buffers, s.scalars, s.grid, s.workspaceBytes, s.group, s.tensorMaps);
}
template <typename A> void fields(A &archive, Is<BoundSymbol> auto &s) { archive(s.output, s.dim, s.symbol); }
template <typename A> void fields(A &archive, Is<HostCall> auto &s) {
  archive(s.op, s.domain, s.opset, s.attributes, s.inputs, s.outputs, s.binds, s.node, s.group);
}
template <typename A> void fields(A &archive, Is<WriteDims> auto &s) { archive(s.value, s.elements); }
template <typename A> void fields(A &archive, Is<Copy> auto &s) { archive(s.target, s.source); }
template <typename A> void fields(A &archive, Is<Guard> auto &s) { archive(s.relation, s.lhs, s.rhs, s.message); }
template <typename A> void fields(A &archive, Is<BodyUse> auto &s) { archive(s.body, s.sizes, s.captures); }
template <typename A> void fields(A &archive, Is<Branch> auto &s) {
  archive(s.condition, s.onTrue, s.onFalse, s.outputs, s.binds, s.node, s.group);
}
template <typename A> void fields(A &archive, Is<Slices> auto &s) { archive(s.value, s.reverse); }
template <typename A> void fields(A &archive, Is<Loop> auto &s) {
  archive(s.tripCount, s.condition, s.counted, s.conditional, s.carried, s.scanned, s.body, s.finals, s.collected,
          s.binds, s.node, s.group);
}
template <typename A> void fields(A &archive, Is<ReadSizes> auto &s) { archive(s.value, s.binds, s.node); }
template <typename A> void fields(A &archive, Is<Product> auto &s) { archive(s.batch, s.m, s.n, s.k, s.type); }
template <typename A> void fields(A &archive, Is<Group> auto &s) {
  archive(s.name, s.rootKind, s.members, s.bytesMoved, s.flops, s.reasons, s.products);
}
template <typename A> void fields(A &archive, Is<Plan> auto &s) {
  archive(s.target, s.mode, s.requirements, s.symbols, s.exprs, s.values, s.inputs, s.outputs, s.kernels, s.steps,
          s.groups, s.faults, s.givenSymbols, s.bodies);
}
template <typename A> void fields(A &archive, Is<CodeSymbol> auto &s) { archive(s.name, s.offset); }
template <typename A> void fields(A &archive, Is<CodeObject> auto &s) {
  archive(s.kind, s.target, s.symbols);
} // bytes: a Code section
template <typename A> void fields(A &archive, Is<ConstantEntry> auto &s) { archive(s.offset, s.bytes); }
template <typename A> void fields(A &archive, Is<Metadata> auto &s) {
  archive(s.modelName, s.compilerVersion, s.options);
}

/// True for the structs above: archives visit them through `fields`.
template <typename T>
concept HasFields = requires(T &value, void (*ignore)(...)) { fields(ignore, value); };

} // namespace tilewright::runtime
