//===- GraphOps.td - the graph dialect: what an ONNX model means, as few operations as say it ---------------------===//
//
// Composite ONNX operators become these primitives at import, whichever way an exporter spelled them. Elementwise work
// is arith and math on tensors. Everything that only renames elements (broadcast, reshape, transpose, slice, pad,
// window, gather) is an *access*: one map from result coordinates to operand coordinates. Convolution and pooling are
// no operations of their own: a convolution is a contraction of a window, a pooling is a reduction of a window. Fusion
// and tile generation read only maps and loops, never names.
//
// Conventions, checked by verifiers and by VerifyStage:
//  * Sizes. A type with dynamic dimensions carries its sizes as an encoding: tensor<?x128xf32, affine_map<()[s0] ->
//    (s0, 128)>>. Symbol s<i> is the i-th name in the module's `graph.symbols`. A type without dynamic dimensions has
//    no encoding. Equal sizes are equal types; elementwise operands have equal types, so every broadcast is written.
//  * Node identity. Every operation except constants carries `graph.node = N : i64`, an index into the module's
//    `graph.nodes` (["name|OpType", ...]): the ONNX node that it came from. `--fuse=none` is the partition by it.
//  * Numbers. Half types are storage: arithmetic on f16 and bf16 is done in f32, with arith.extf and arith.truncf
//    written. Sums and contractions of half operands have f32 results. Integers are signless, bool is i1.
//
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
include "frontend/graph/GraphInterfaces.td"
include "frontend/graph/RootKind.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::tilewright::graph";
  let summary = "ONNX graphs as primitives: contractions, reductions, accesses, and arith and math on tensors";
  let hasConstantMaterializer = 1;
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

//===- Accesses ---------------------------------------------------------------------------------------------------===//

class Graph_Access<string mnemonic> : Graph_Op<mnemonic, [Pure, DeclareOpInterfaceMethods<AccessOpInterface>]>;

def BroadcastOp : Graph_Access<"broadcast"> {
  let summary = "repeat along new dimensions or dimensions of size 1";
  let description = [{
    Operand dimension i becomes result dimension `dims[i]` (strictly increasing). A dimension of size 1 is repeated; any
    other has the result's size.

    ```mlir
    %y = graph.broadcast %x dims [1] : tensor<768xf32> -> tensor<8x768xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$data, DenseI64ArrayAttr:$dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$data `dims` $dims attr-dict `:` type($data) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ReshapeOp : Graph_Access<"reshape"> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    ```mlir
    %y = graph.reshape %x : tensor<8x12x64xf32> -> tensor<8x768xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$data);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$data attr-dict `:` type($data) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TransposeOp : Graph_Access<"transpose"> {
  let summary = "permute dimensions: result dimension i is operand dimension perm[i]";
  let description = [{
    ```mlir
    %y = graph.transpose %x perm [0, 2, 1] : tensor<8x12x64xf32> -> tensor<8x64x12xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$data, DenseI64ArrayAttr:$perm);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$data `perm` $perm attr-dict `:` type($data) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def SliceOp : Graph_Access<"slice"> {
  let summary = "result[i] = data[offsets + strides * i]";
  let description = [{
    `offsets` are size expressions (a map without dimensions); `strides` may be negative. Never leaves the operand.

    ```mlir
    %y = graph.slice %x offsets affine_map<() -> (0, 64)> strides [1, 2] : tensor<8x128xf32> -> tensor<8x32xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$data, AffineMapAttr:$offsets, DenseI64ArrayAttr:$strides);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$data `offsets` $offsets `strides` $strides attr-dict `:` type($data) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def PadOp : Graph_Access<"pad"> {
  let summary = "result[i] = data[i - low], or fill outside";
  let description = [{
    `low` may be negative (a crop). What lies past the operand's end is fill too.

    ```mlir
    %y = graph.pad %x low [0, 1] fill 0.0 : f32 : tensor<8x30xf32> -> tensor<8x32xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$data, DenseI64ArrayAttr:$low, TypedAttrInterface:$fill);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$data `low` $low `fill` $fill attr-dict `:` type($data) `->` type($result)";
  let hasVerifier = 1;
}

def WindowOp : Graph_Access<"window"> {
  let summary = "the windows that a convolution or pooling looks through";
  let description = [{
    Operand [a..., x_1..x_n, b...], where dims lists the n spatial dimensions (consecutive). Result [a..., o_1..o_n,
    k_1..k_n, b...], with result[a, o, k, b] = data[a, o * strides + k * dilations - low, b], or fill where that leaves
    the operand.

    ```mlir
    %w = graph.window %x dims [1, 2] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.0 : f32
        : tensor<1x224x224x3xf32> -> tensor<1x112x112x3x3x3xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$data, DenseI64ArrayAttr:$dims, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low,
                       TypedAttrInterface:$fill);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$data `dims` $dims `strides` $strides `dilations` $dilations `low` $low `fill` $fill attr-dict `:` type($data) `->` type($result)";
  let hasVerifier = 1;
}

def GatherOp : Graph_Access<"gather"> {
  let summary = "read at computed coordinates";
  let description = [{
    Each index operand has the result's shape (broadcast it first: that is free) and integer elements. The map's
    dimensions are the result's, then one per index operand. Indices are not wrapped: import writes the negative case.
    An index outside its dimension is an error at run time, reported at the ONNX node.

    ```mlir
    %y = graph.gather %table[%ids : tensor<8x768xi64>] map affine_map<(d0, d1, d2) -> (d2, d1)> : tensor<30522x768xf32> -> tensor<8x768xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$data, Variadic<AnyRankedTensor>:$indices, AffineMapAttr:$map);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$data `[` $indices (`:` type($indices)^)? `]` `map` $map attr-dict `:` type($data) `->` type($result)";
  let extraClassDeclaration = [{
    ::mlir::ValueRange getIndexOperands() { return getIndices(); }
  }];
  let hasVerifier = 1;
}

def RepeatOp : Graph_Access<"repeat"> {
  let summary = "result[i] = data[i mod the operand's sizes]";
  let description = [{
    A broadcast of dimensions of which only running tells whether they are 1: each of the operand's sizes is the
    result's or 1.

    ```mlir
    %y = graph.repeat %x : tensor<1x768xf32> -> tensor<8x768xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$data);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$data attr-dict `:` type($data) `->` type($result)";
  let hasVerifier = 1;
}

def ViewOp : Graph_Op<"view", [Pure]> {
  let summary = "the same elements in row-major order under sizes that have as many when running";
  let description = [{
    A reshape that nothing proves: `graph.guards` has what must hold. It is no access; it stays between kernels, where
    it costs nothing.

    ```mlir
    %y = graph.view %x : tensor<?xf32, affine_map<()[s0] -> (s0)>> -> tensor<?x256xf32, affine_map<()[s0] -> (s0 floordiv 256, 256)>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$data);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$data attr-dict `:` type($data) `->` type($result)";
  let hasVerifier = 1;
}

//===- Sources ----------------------------------------------------------------------------------------------------===//

def ConstantOp : Graph_Op<"constant", [Pure]> {
  let summary = "constant tensor whose bytes are in the pool, by content hash";
  let description = [{
    Splats and scalars are arith.constant; everything else is this, so that IR stays readable and weights stay mapped.
    `key` is 32 hexadecimal digits.

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
    ```mlir
    %i = graph.iota dim 1 : tensor<8x128xi64>
    ```
  }];
  let arguments = (ins I64Attr:$dim);
  let results = (outs TensorOf<[AnySignlessInteger]>:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasVerifier = 1;
}

def DimsOp : Graph_Op<"dims", [Pure]> {
  let summary = "size expressions as a tensor, evaluated on the host; never a kernel";
  let description = [{
    ```mlir
    %s = graph.dims affine_map<()[s0] -> (s0, 768)> : tensor<2xi64>
    ```
  }];
  let arguments = (ins AffineMapAttr:$sizes);
  let results = (outs TensorOf<[I64]>:$result);
  let assemblyFormat = "$sizes attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasVerifier = 1;
}

def ReadSizesOp : Graph_Op<"read_sizes"> {
  let summary = "the elements of a vector as sizes: the other way round from graph.dims";
  let description = [{
    Binds `symbols`, one for each element, when running. The elements must not be negative. No operand says that other
    operations need the symbols; whoever orders operations keeps reads in front of them.

    ```mlir
    graph.read_sizes %s symbols [1, 2] : tensor<2xi64>
    ```
  }];
  let arguments = (ins TensorOf<[I64]>:$sizes, DenseI64ArrayAttr:$symbols);
  let assemblyFormat = "$sizes `symbols` $symbols attr-dict `:` type($sizes)";
  let hasVerifier = 1;
}

//===- Loops ------------------------------------------------------------------------------------------------------===//

def ReduceKind : I32EnumAttr<"ReduceKind", "how elements are combined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">, I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">]> {
  let cppNamespace = "::tilewright::graph";
  let genSpecializedAttr = 0;
}
def ReduceKindAttr : EnumAttr<Graph_Dialect, ReduceKind, "reduce_kind"> { let assemblyFormat = "`<` $value `>`"; }

def ConcatOp : Graph_Op<"concat", [Pure]> {
  let summary = "join along `axis`";
  let description = [{
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
    Sums of floats have element type f32 or f64. Max and Min propagate NaN; signed integers. The empty sum is 0, the
    empty product 1.

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
    Three projected permutations over one list of loops. A loop that the result does not name is a reduction. Loops
    named by all three are batch loops, by lhs and result are rows (m), by rhs and result are columns (n), by lhs and
    rhs are the reduction (k). Half operands give an f32 result, i8 operands i32: those are signed unless `lhs_unsigned`
    or `rhs_unsigned` says otherwise, and the sums wrap.

    ```mlir
    %c = graph.contract %a, %b maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
        : tensor<128x768xf16>, tensor<768x3072xf16> -> tensor<128x3072xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, AffineMapArrayAttr:$maps, UnitAttr:$lhs_unsigned, UnitAttr:$rhs_unsigned);
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
    `present` says which of the node's inputs are given; operands are those, in order. Result sizes that only running
    tells are fresh symbols, bound by this call.

    ```mlir
    %y = graph.host_call "Resize"("", 13) present [true, false, true] attributes {mode = "linear"} (%x, %scales)
        : (tensor<1x3x8x8xf32>, tensor<4xf32>) -> tensor<1x3x16x16xf32>
    ```
  }];
  let arguments = (ins StrAttr:$op, StrAttr:$domain, I64Attr:$opset, DenseBoolArrayAttr:$present, DictionaryAttr:$node_attributes, Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$op `(` $domain `,` $opset `)` `present` $present `attributes` $node_attributes `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
  let hasVerifier = 1;
}

def RootKindAttr : EnumAttr<Graph_Dialect, RootKind, "root"> { let assemblyFormat = "`<` $value `>`"; }

def KernelOp : Graph_Op<"kernel", [IsolatedFromAbove, FunctionOpInterface, Symbol, AutomaticAllocationScope]> {
  let summary = "one fused group: becomes one tile kernel";
  let description = [{
    The body is graph IR. Nothing between its operations touches global memory. `root` is set by fusion, `schedule` by
    the schedule stage.

    ```mlir
    graph.kernel @bias_relu(%x: tensor<8x768xf32>, %b: tensor<768xf32>) -> tensor<8x768xf32> {
      %0 = graph.broadcast %b dims [1] : tensor<768xf32> -> tensor<8x768xf32>
      %1 = arith.addf %x, %0 : tensor<8x768xf32>
      graph.return %1 : tensor<8x768xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs, OptionalAttr<RootKindAttr>:$root);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def ReturnOp : Graph_Op<"return", [Pure, Terminator, ReturnLike, HasParent<"KernelOp">]> {
  let summary = "the group's outputs";
  let description = [{
    ```mlir
    graph.return %y : tensor<8x768xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$outputs);
  let hasVerifier = 1;
  let assemblyFormat = "attr-dict ($outputs^ `:` type($outputs))?";
}

def LaunchOp : Graph_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "run a kernel: one step of the plan";
  let description = [{
    Several launches may share one kernel (equal layers do). `graph.nodes_of` lists the ONNX nodes whose work this
    launch does.

    ```mlir
    %y = graph.launch @bias_relu(%x, %b) : (tensor<8x768xf32>, tensor<768xf32>) -> tensor<8x768xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
}

#endif
