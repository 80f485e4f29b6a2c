// SPDX-License-Identifier: Apache-2.0
//===- GraphAccesses.td - operations that rename elements ---------------------------------------------------------===//
#ifndef TILEWRIGHT_GRAPH_ACCESSES
#define TILEWRIGHT_GRAPH_ACCESSES

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "frontend/graph/GraphDialect.td"
include "frontend/graph/GraphInterfaces.td"

class Graph_Access<string mnemonic> : Graph_Op<mnemonic, [Pure, DeclareOpInterfaceMethods<AccessOpInterface>]>;

def BroadcastOp : Graph_Access<"broadcast"> {
  let summary = "repeat along new dimensions or dimensions of size 1";
  let description = [{
    Operand dimension i becomes result dimension `dims[i]`. A dimension of size 1 is repeated; any other has the
    result's size.

    * `data`: the tensor that is repeated.
    * `dims`: the result's dimension for each dimension of `data`, strictly increasing.
    * `result`: has the element type of `data`.

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
    * `data`: the tensor whose elements are renamed.
    * `result`: has as many elements as `data`, shown by its size expressions; see graph.view where they do not show it.

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
    * `data`: the tensor whose dimensions change places.
    * `perm`: each dimension of `data` once, in the result's order.
    * `result`: has the sizes of `data`, permuted.

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
    Never leaves the operand.

    * `data`: the tensor that is cut.
    * `offsets`: where the result begins, a size expression for each dimension (a map without dimensions).
    * `strides`: the step in each dimension; negative ones walk backwards.
    * `result`: has the rank of `data`; its sizes say how many elements are taken.

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

def RollOp : Graph_Access<"roll"> {
  let summary = "result[i] = data[(i + offsets) mod the sizes]";
  let description = [{
    What leaves at one end comes in at the other. Normalization makes it of two slices that are concatenated the other
    way around.

    * `data`: the tensor that is rolled.
    * `offsets`: the operand's coordinates of the result's first element, a size expression for each dimension, from 0
      to its size.
    * `result`: has the type of `data`.

    ```mlir
    %y = graph.roll %x offsets affine_map<() -> (0, 3)> : tensor<8x56xf32> -> tensor<8x56xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$data, AffineMapAttr:$offsets);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$data `offsets` $offsets attr-dict `:` type($data) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def PadOp : Graph_Access<"pad"> {
  let summary = "result[i] = data[i - low], or fill outside";
  let description = [{
    * `data`: the tensor that is padded.
    * `low`: elements in front of `data`, for each dimension; negative ones crop.
    * `fill`: the value outside of `data`, of its element type.
    * `result`: has the rank of `data`; its sizes say where the padding ends. What lies past the end of `data` is fill.

    ```mlir
    %y = graph.pad %x low [0, 1] fill 0.0 : f32 : tensor<8x30xf32> -> tensor<8x32xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$data, DenseI64ArrayAttr:$low, TypedAttrInterface:$fill);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$data `low` $low `fill` $fill attr-dict `:` type($data) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def WindowOp : Graph_Access<"window"> {
  let summary = "the windows that a convolution or pooling looks through";
  let description = [{
    Operand [a..., x_1..x_n, b...] with n spatial dimensions. Result [a..., o_1..o_n, k_1..k_n, b...], with
    result[a, o, k, b] = data[a, o * strides + k * dilations - low, b], or fill where that leaves the operand.

    * `data`: the image.
    * `dims`: the n spatial dimensions, consecutive.
    * `strides`, `dilations`: the steps from window to window, and between elements of one, for each spatial dimension.
    * `low`: how far the first window begins in front of the image, for each spatial dimension.
    * `fill`: the value outside of the image, of its element type.
    * `copied`: whether a kernel of their own writes the windows before they are multiplied.
    * `pixels`: whether the image is to have its channels last, so that a copy engine can walk its pixels.
    * `result`: its sizes o and k say how many windows there are and how large each is.

    ```mlir
    %w = graph.window %x dims [1, 2] strides [2, 2] dilations [1, 1] low [1, 1] fill 0.0 : f32
        : tensor<1x224x224x3xf32> -> tensor<1x112x112x3x3x3xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$data, DenseI64ArrayAttr:$dims, DenseI64ArrayAttr:$strides,
    DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low, TypedAttrInterface:$fill, UnitAttr:$copied, UnitAttr:$pixels);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $data `dims` $dims `strides` $strides `dilations` $dilations `low` $low `fill` $fill (`copied` $copied^)?
    (`pixels` $pixels^)? attr-dict `:` type($data) `->` type($result)
  }];
  let hasVerifier = 1;
}

def GatherOp : Graph_Access<"gather"> {
  let summary = "read at computed coordinates";
  let description = [{
    Indices are not wrapped: import writes the negative case. An index outside its dimension is an error at run time,
    reported at the ONNX node.

    * `data`: the tensor that is read.
    * `indices`: integers, each operand of the result's shape (broadcast it first: that is free).
    * `map`: from the result's dimensions, then one for each index operand, to the coordinates in `data`.
    * `result`: has the element type of `data`.

    ```mlir
    %y = graph.gather %table[%ids : tensor<8x768xi64>] map affine_map<(d0, d1, d2) -> (d2, d1)>
        : tensor<30522x768xf32> -> tensor<8x768xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$data, Variadic<AnyRankedTensor>:$indices, AffineMapAttr:$map);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $data `[` $indices (`:` type($indices)^)? `]` `map` $map attr-dict `:` type($data) `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::mlir::ValueRange getIndexOperands() { return getIndices(); }
  }];
  let hasVerifier = 1;
}

def RepeatOp : Graph_Access<"repeat"> {
  let summary = "result[i] = data[i mod the operand's sizes]";
  let description = [{
    A broadcast whose sizes are known only when running: each size of the operand is then the result's or 1.

    * `data`: the tensor that is repeated.
    * `result`: has the rank and element type of `data`.

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
    A reshape whose element counts only running can compare: the module's `graph.guards` hold what must be equal. It is
    no access; it stays between kernels, where it costs nothing.

    * `data`: the tensor whose elements are renamed.
    * `result`: has the element type of `data`.

    ```mlir
    %y = graph.view %x : tensor<?xf32, affine_map<()[s0] -> (s0)>>
        -> tensor<?x256xf32, affine_map<()[s0] -> (s0 floordiv 256, 256)>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$data);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$data attr-dict `:` type($data) `->` type($result)";
  let hasVerifier = 1;
}

#endif
