// SPDX-License-Identifier: Apache-2.0
//===- GraphDialect.td - the graph dialect and its conventions ----------------------------------------------------===//
#ifndef TILEWRIGHT_GRAPH_DIALECT
#define TILEWRIGHT_GRAPH_DIALECT

include "mlir/IR/OpBase.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::tilewright::graph";
  let summary = "ONNX graphs as primitives: contractions, reductions, accesses, and arith and math on tensors";
  let description = [{
    Composite ONNX operators become these primitives at import, whichever way an exporter spelled them. Elementwise work
    is arith and math on tensors. Everything that only renames elements (broadcast, reshape, transpose, slice, roll,
    pad, window, gather) is an *access*: one map from result coordinates to operand coordinates. Convolution and pooling
    are no operations of their own: a convolution is a contraction of a window, a pooling is a reduction of a window.
    Fusion and tile generation read only maps and loops, never names.

    Conventions. Verifiers check what one operation can tell; the pipeline checks the module between its stages.

    * *Sizes.* A type with dynamic dimensions carries its sizes as an encoding:
      `tensor<?x128xf32, affine_map<()[s0] -> (s0, 128)>>`. Symbol `s<i>` is the i-th name in the module's
      `graph.symbols`. A type without dynamic dimensions has no encoding. Equal sizes are equal types; elementwise
      operands have equal types, so every broadcast is written.
    * *Node identity.* Every operation except constants carries `graph.node = N : i64`, an index into the module's
      `graph.nodes` (["name|OpType", ...]): the ONNX node that it came from. `--fuse=none` is the partition by it.
    * *Numbers.* Half types are storage: arithmetic on f16 and bf16 is done in f32, with arith.extf and arith.truncf
      written. Sums and contractions of half operands have f32 results. Integers are signless, bool is i1.
  }];
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::func::FuncDialect"];
  let extraClassDeclaration = [{
    /// The bytes behind graph.constant, by content hash; lives as long as the context.
    ConstantPool &constants() { return *pool; }
  private:
    std::shared_ptr<ConstantPool> pool;
  public:
  }];
}

class Graph_Op<string mnemonic, list<Trait> traits = []> : Op<Graph_Dialect, mnemonic, traits>;

#endif
