// SPDX-License-Identifier: Apache-2.0
//===- GraphOps.td - the graph dialect: what an ONNX model means, as few operations as say it ---------------------===//
// docs/dialects/graph.md is made of this file by scripts/generate-docs.
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef TILEWRIGHT_GRAPH_OPS
#define TILEWRIGHT_GRAPH_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "frontend/graph/GraphAccesses.td"
include "frontend/graph/RootKind.td"

//===- Sources ----------------------------------------------------------------------------------------------------===//

def ConstantOp : Graph_Op<"constant", [Pure]> {
  let summary = "constant tensor whose bytes are in the pool, by content hash";
  let description = [{
    Splats and scalars are arith.constant; everything else is this, so that IR stays readable and weights stay mapped.

    * `key`: the hash of the bytes, 32 lower-case hexadecimal digits.
    * `result`: says how the bytes are read: row-major, little-endian.

    ```mlir
    %w = graph.constant "00112233445566778899aabbccddeeff" : tensor<768x3072xf32>
    ```
  }];
  let arguments = (ins StrAttr:$key);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$key attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def IotaOp : Graph_Op<"iota", [Pure]> {
  let summary = "each element is its own coordinate along `dim`";
  let description = [{
    * `dim`: the dimension whose coordinate is taken.
    * `result`: integers, of any shape.

    ```mlir
    %i = graph.iota dim 1 : tensor<8x128xi64>
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs TensorOf<[AnySignlessInteger]>:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def DimsOp : Graph_Op<"dims", [Pure]> {
  let summary = "size expressions as a tensor, evaluated on the host; never a kernel";
  let description = [{
    * `sizes`: a map without dimensions; each of its results is an element.
    * `result`: a vector of them, or a scalar of the only one.

    ```mlir
    %s = graph.dims affine_map<()[s0] -> (s0, 768)> : tensor<2xi64>
    ```
  }];
  let arguments = (ins AffineMapAttr:$sizes);
  let results = (outs TensorOf<[I64]>:$result);
  let assemblyFormat = "$sizes attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def ReadSizesOp : Graph_Op<"read_sizes"> {
  let summary = "the elements of a vector as sizes: the other way round from graph.dims";
  let description = [{
    Binds symbols when running. No operand says that other operations need the symbols; whoever orders operations keeps
    reads in front of them.

    * `sizes`: a vector; its elements must not be negative.
    * `symbols`: the module's symbol that each element is the value of.

    ```mlir
    graph.read_sizes %s symbols [1, 2] : tensor<2xi64>
    ```
  }];
  let arguments = (ins TensorOf<[I64]>:$sizes, DenseI64ArrayAttr:$symbols);
  let assemblyFormat = "$sizes `symbols` $symbols attr-dict `:` type($sizes)";
  let hasVerifier = 1;
}

//===- Loops ------------------------------------------------------------------------------------------------------===//

def ReduceKind : I32EnumAttr<"ReduceKind", "how elements are combined",
                             [I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">,
                              I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">]> {
  let cppNamespace = "::tilewright::graph";
  let genSpecializedAttr = 0;
}
def ReduceKindAttr : EnumAttr<Graph_Dialect, ReduceKind, "reduce_kind"> { let assemblyFormat = "`<` $value `>`"; }

def ConcatOp : Graph_Op<"concat", [Pure]> {
  let summary = "join along `axis`";
  let description = [{
    * `axis`: the dimension along which the operands follow each other.
    * `inputs`: at least one tensor; all have one element type, and equal sizes but along `axis`.
    * `result`: is as long along `axis` as the operands together.

    ```mlir
    %y = graph.concat axis 1 %a, %b : tensor<8x64xf32>, tensor<8x32xf32> -> tensor<8x96xf32>
    ```
  }];
  let arguments = (ins I64Attr:$axis, Variadic<AnyRankedTensor>:$inputs);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`axis` $axis $inputs attr-dict `:` type($inputs) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ReduceOp : Graph_Op<"reduce", [Pure]> {
  let summary = "combine along `axes`, which vanish";
  let description = [{
    Sums of floats have element type f32 or f64. Max and Min propagate NaN and compare integers as signed. The empty sum
    is 0, the empty product 1.

    * `kind`: sum, prod, max or min.
    * `input`: the tensor whose elements are combined.
    * `axes`: the dimensions that vanish, increasing.
    * `result`: has the other dimensions of `input`.

    ```mlir
    %m = graph.reduce <max> %x axes [1] : tensor<64x1000xf32> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins ReduceKindAttr:$kind, AnyRankedTensor:$input, DenseI64ArrayAttr:$axes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$kind $input `axes` $axes attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def ContractOp : Graph_Op<"contract", [Pure]> {
  let summary = "sum of products: result[map_r(d)] += lhs[map_l(d)] * rhs[map_r(d)] over loops d";
  let description = [{
    A loop that the result does not name is a reduction. Loops named by all three maps are batch loops, by lhs and
    result are rows (m), by rhs and result are columns (n), by lhs and rhs are the reduction (k).

    * `lhs`, `rhs`: the factors, of one element type.
    * `maps`: for lhs, rhs and result, a projected permutation of one list of loops.
    * `lhs_unsigned`, `rhs_unsigned`: the bytes of that operand have no sign; otherwise they are signed.
    * `result`: f32 of half operands, i32 of bytes (whose sums wrap), else of the operands' type.

    ```mlir
    %c = graph.contract %a, %b maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                     affine_map<(m, n, k) -> (m, n)>]
        : tensor<128x768xf16>, tensor<768x3072xf16> -> tensor<128x3072xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, AffineMapArrayAttr:$maps, UnitAttr:$lhs_unsigned,
      UnitAttr:$rhs_unsigned);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs `maps` $maps attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::AffineMap getMap(unsigned i) { return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[i]).getValue(); }
  }];
}

//===- Calls ------------------------------------------------------------------------------------------------------===//

def HostCallOp : Graph_Op<"host_call"> {
  let summary = "an ONNX operator through the runtime's reference: nothing compiled covers it";
  let description = [{
    Result sizes that are known only when running are fresh symbols, bound by this call.

    * `op`, `domain`, `opset`: the ONNX operator, its domain ("" for ONNX's own) and the version of that.
    * `present`: for each input of the node, whether it is given.
    * `node_attributes`: the node's attributes, by their ONNX names.
    * `inputs`: the inputs that are given, in order.
    * `results`: the node's outputs.

    ```mlir
    %y = graph.host_call "Resize"("", 13) present [true, false, true] attributes {mode = "linear"} (%x, %scales)
        : (tensor<1x3x8x8xf32>, tensor<4xf32>) -> tensor<1x3x16x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$op, StrAttr:$domain, I64Attr:$opset, DenseBoolArrayAttr:$present,
      DictionaryAttr:$node_attributes, Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $op `(` $domain `,` $opset `)` `present` $present `attributes` $node_attributes `(` $inputs `)` attr-dict
    `:` functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

def RootKindAttr : EnumAttr<Graph_Dialect, RootKind, "root"> { let assemblyFormat = "`<` $value `>`"; }

def StepsAttr : AttrDef<Graph_Dialect, "Steps"> {
  let mnemonic = "steps";
  let summary = "the loop around a kernel whose body is one step";
  let description = [{
    Stands on a kernel that was the whole body of a `flow.loop`. Its arguments and results are
    those of one step; a launch passes and returns those of the whole loop:

    * `count`: the number of steps.
    * `carried`: the arguments that are states. A step takes the state of the step before, and returns the next one as
      result 0, 1, ... in this order; a launch takes the state before the first step, and returns that after the last.
    * `forward`, `backward`: the arguments that are slices, from the first or from the last on. A launch takes all
      slices, a tensor with one more dimension in front.
    * Other arguments are the same in every step. Other results are slices, of which a launch returns all; those in
      `backward_results` begin with the last one.

    In front of these a launch returns one more result for each carried one, of two states: where the program leaves
    them from step to step. Nothing reads it.
  }];
  let parameters = (ins "::mlir::AffineMap":$count, "::mlir::DenseI64ArrayAttr":$carried,
                    "::mlir::DenseI64ArrayAttr":$forward, "::mlir::DenseI64ArrayAttr":$backward,
                    "::mlir::DenseI64ArrayAttr":$backward_results);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    ::mlir::AffineExpr getCountExpr() const { return getCount().getResult(0); }
    bool isSequence(unsigned argument) const {
      return ::llvm::is_contained(getForward().asArrayRef(), argument) ||
             ::llvm::is_contained(getBackward().asArrayRef(), argument);
    }
  }];
}

def KernelOp : Graph_Op<"kernel", [IsolatedFromAbove, FunctionOpInterface, Symbol, AutomaticAllocationScope]> {
  let summary = "one fused group: becomes one tile kernel";
  let description = [{
    The body is graph IR. Nothing between its operations touches global memory.

    * `sym_name`, `function_type`: the kernel's name, and the tensors that it takes and returns.
    * `root`: which kind of kernel it is; set by fusion.
    * `steps`: the loop that the kernel runs by itself, around its body.
    * `schedule`: a `#tile.schedule`, set by the stage `schedule`; the stage `tile` obeys it.
    * `arg_attrs`, `res_attrs`: attributes of arguments and results; `graph.constant` on an argument says that every
      launch passes a constant, `graph.input` that every launch passes an input of the model.

    ```mlir
    graph.kernel @bias_relu(%x: tensor<8x768xf32>, %b: tensor<768xf32>) -> tensor<8x768xf32> {
      %0 = graph.broadcast %b dims [1] : tensor<768xf32> -> tensor<8x768xf32>
      %1 = arith.addf %x, %0 : tensor<8x768xf32>
      graph.return %1 : tensor<8x768xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
      OptionalAttr<AnyAttr>:$schedule, OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
      OptionalAttr<RootKindAttr>:$root, OptionalAttr<StepsAttr>:$steps);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The types that a launch passes and returns: the kernel's own, or those of all its steps.
    ::mlir::FunctionType getLaunchType();
  }];
}

def ReturnOp : Graph_Op<"return", [Pure, Terminator, ReturnLike, HasParent<"KernelOp">]> {
  let summary = "the group's outputs";
  let description = [{
    * `outputs`: the kernel's results, in order.

    ```mlir
    graph.return %y : tensor<8x768xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$outputs);
  let hasVerifier = 1;
  let assemblyFormat = "attr-dict ($outputs^ `:` type($outputs))?";
}

def VariantAttr : AttrDef<Graph_Dialect, "Variant"> {
  let mnemonic = "variant";
  let summary = "the kernel that a launch runs while a size is no larger than a bound: another schedule of its own one";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$kernel, "::mlir::AffineMap":$size, "int64_t":$most);
  let assemblyFormat = "`<` $kernel `for` $size `to` $most `>`";
}

def LaunchOp : Graph_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "run a kernel: one step of the plan";
  let description = [{
    Several launches may share one kernel (equal layers do). Reports read attributes whose names GraphOps.h has:
    `graph.nodes_of` (the ONNX nodes whose work it does), `graph.flops`, `graph.bytes` and `graph.products`.

    * `kernel`: the graph.kernel that runs, or the tile.kernel that it has become.
    * `variants`: kernels in its place by one size, in the order of their bounds: the first that is not exceeded runs.
    * `inputs`, `results`: the kernel's arguments and results.

    ```mlir
    %y = graph.launch @bias_relu(%x, %b) : (tensor<8x768xf32>, tensor<768xf32>) -> tensor<8x768xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyRankedTensor>:$inputs, OptionalAttr<ArrayAttr>:$variants);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
  let extraClassDeclaration = "::llvm::SmallVector<::mlir::FlatSymbolRefAttr> getKernels();";
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
}

#endif
