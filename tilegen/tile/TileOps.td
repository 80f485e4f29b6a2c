// SPDX-License-Identifier: Apache-2.0
//===- TileOps.td - the tile dialect: block programs on tiles -----------------------------------------------------===//
//
// docs/dialects/tile.md is made of this file, PlacedOps.td, RoleOps.td, PartOps.td and StepOps.td by
// scripts/generate-docs.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef TILEWRIGHT_TILE_OPS
#define TILEWRIGHT_TILE_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tilewright::tile";
  let summary = "block programs on tiles";
  let description = [{
    A kernel is one program run for every point of a grid. Values are tiles: `tensor<128x64xf32>`. Elementwise work is
    arith and math on tiles, loops are scf.for with tiles as carried values. The same text serves every target: what
    differs is the schedule's sizes.

    **Coordinates.** A load or store has one *offset* (index) for each dimension of its tile; element t of the tile has
    the coordinates offset + t.

    * `bounds` gives the number of valid coordinates in each dimension: an element is *live* if
      coordinate[i] < bounds[i] for all i. Other elements are *dead*: they are not stored, and load as `fill`.
    * `map` takes the coordinates (then one dimension for each index tile) to the buffer's coordinates.
    * `guard` lists the buffer's dimensions that the map may leave (windows, pads): outside, the element loads as `fill`
      too. In every other dimension live elements are inside the buffer; that is the producer's promise, which lets a
      backend clamp instead of mask.
    * Symbols `s<i>` in maps are the kernel's i-th symbol argument, implicitly: the verifier checks their number.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
  let hasOperationAttrVerify = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

/// What every backend has registers for. Other types of memory (bool, 4-bit integers) are these when loaded.
def Tile_Tile : StaticShapeTensorOf<[F16, BF16, F32, F64, I1, I8, I16, I32, I64]> {
  let summary = "tile of f16, bf16, f32, f64, i1, i8, i16, i32 or i64";
}
def Tile_Integers : StaticShapeTensorOf<[I1, I8, I16, I32, I64]> {
  let summary = "tile of i1, i8, i16, i32 or i64";
}

//===- Types and attributes ---------------------------------------------------------------------------------------===//

def BufferType : TypeDef<Tile_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "dense row-major global memory";
  let description = [{
    `!tile.buffer<f16, ()[s0] -> (s0, 768)>`: element type as stored (bool is i8) and sizes as expressions of the
    kernel's symbols. A packed constant is a buffer of its packed shape; the load's map speaks of that shape.
  }];
  let parameters = (ins "::mlir::Type":$elementType, "::mlir::AffineMap":$sizes);
  let assemblyFormat = "`<` $elementType `,` custom<Sizes>($sizes) `>`";
  let extraClassDeclaration = [{ unsigned getRank() const { return getSizes().getNumResults(); } }];
}

/// [1, 128, 128]: sizes or counts, one for each loop.
class SizeList<string desc> : ArrayRefParameter<"int64_t", desc> {
  let parser = "::tilewright::tile::parseSizeList($_parser)";
  let printer = "::tilewright::tile::printSizeList($_printer, $_self)";
}
class OptionalSizeList<string desc> : OptionalArrayRefParameter<"int64_t", desc> {
  let parser = "::tilewright::tile::parseSizeList($_parser)";
  let printer = "::tilewright::tile::printSizeList($_printer, $_self)";
}

/// How one kernel is cut into tiles. Printed on graph.kernel and tile.kernel; may be edited by hand and resumed from.
def ScheduleAttr : AttrDef<Tile_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "root, tile sizes and resources of one kernel on one target";
  let description = [{
    `#tile.schedule<matmul, tile = [1, 128, 128], reduce = [32], warps = 4, stages = 3>` for a block of threads,
    `#tile.schedule<matmul, tile = [1, 96, 256], reduce = [768], registers = [6, 64], pack = 64>` for a program of one
    thread. What is left out is 1 warp, 1 stage, and nothing.

    * `root`: as which kind of kernel (graph::RootKind) this one is computed: a contraction as matmul or gemv, a
      reduction as row_reduction or window.
    * `tile`: one size for each parallel loop of the kernel's iteration space, outermost first. For a block these are
      powers of two, but for the columns of a matmul, which may be a sum of them: 192 are computed as 128 and 64.
    * `reduce`: one step for each reduction loop.
    * `unrolled`: the elements of a window's step are reduced one after the other, in straight code, and so a thread
      loads what the windows of neighbouring results share once. Without it they are a dimension of the block's tiles.
    * `warps`: warps or wavefronts of a block.
    * `stages`: buffers of the block's software pipeline.
    * `registers`: rows and columns that one thread computes at a time. A third number is a depth: sums return to memory
      after each step of a reduced loop that is at most so long, and all columns take that step before the next one.
    * `pack`: the constant operand of a contraction is stored in panels this wide; 0 as it is. In panels of one
      column it runs along the sum.
    * `groups`: 0 if all warps of a block do the same; else the block's copies are started by warps of their own,
      `warps` multiply, and with 2 (a matmul's) there is a second group of as many, which multiplies while the first
      one stores. Placing ignores it if the target cannot copy the operands in this way.
    * `order`: the number of rows of tiles that programs go down before they take the next column. Of a causal attention
      a row of tiles is a head, and the next column are rows that see fewer keys.
    * `parts`: how many programs share the sums of one tile (tile.part_arrive). Each takes a part of the steps, in an
      attention of the keys.
    * `clustered`: the programs that share a tile are the blocks of one cluster, and each finishes a share of the tile
      (tile.part_sum). Without it they meet in global memory, and the last one finishes the tile (tile.part_arrive).
      Of a row reduction each block has a share of the tile from the start (tile.part_reduce).
    * `streamed`: the right sides are so large that nothing of them stays in a cache until they are read again. What is
      read of them leaves the cache first (streamedAttr in TileOps.h).
    * `most_tiles`: the number of tiles that the workspace for parts has room for. A launch may not have more. 0 if the
      number of tiles is known.
    * `in_place`: rows of a contraction's left side that may leave their buffer are read where they are, with guards;
      without it they are copied with their fill first (host).
    * `matrix`: register tiles of a matmul of bytes are computed by the processor's matrix unit (host).
    * `strip`: columns of a matmul's tile that are computed and stored before the others; 0: as many as can be.
  }];
  let parameters = (ins "::tilewright::graph::RootKind":$root,
                    SizeList<"of the parallel loops">:$tile, OptionalSizeList<"of the reduction loops">:$reduce,
                    DefaultValuedParameter<"int64_t", "1">:$warps, DefaultValuedParameter<"int64_t", "1">:$stages,
                    OptionalSizeList<"of the register tile">:$registers, DefaultValuedParameter<"int64_t", "0">:$pack,
                    DefaultValuedParameter<"int64_t", "0">:$groups, DefaultValuedParameter<"int64_t", "1">:$order,
                    DefaultValuedParameter<"int64_t", "1">:$parts,
                    DefaultValuedParameter<"bool", "false">:$clustered,
                    DefaultValuedParameter<"bool", "false">:$streamed,
                    DefaultValuedParameter<"int64_t", "0">:$most_tiles,
                    DefaultValuedParameter<"bool", "false">:$in_place,
                    DefaultValuedParameter<"bool", "false">:$matrix,
                    DefaultValuedParameter<"bool", "false">:$unrolled,
                    DefaultValuedParameter<"int64_t", "0">:$strip);
  let assemblyFormat = [{
    `<` $root `,`
    struct($tile, $reduce, $warps, $stages, $registers, $pack, $groups, $order, $parts, $clustered,
           $streamed, $most_tiles, $in_place, $matrix, $unrolled, $strip) `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Is a program a block of threads? Else it is one thread with vector registers.
    bool isOfBlock() const { return getRegisters().empty(); }
    /// For a program that is a block of threads.
    static ScheduleAttr ofBlock(::mlir::MLIRContext *context, ::tilewright::graph::RootKind root,
                                ::llvm::ArrayRef<int64_t> tile, ::llvm::ArrayRef<int64_t> reduce, int64_t warps,
                                int64_t stages = 1, int64_t groups = 0, int64_t order = 1, int64_t parts = 1,
                                int64_t mostTiles = 0) {
      return get(context, root, tile, reduce, warps, stages, {}, 0, groups, order, parts, /*clustered=*/false,
                 /*streamed=*/false, mostTiles, false, false, /*unrolled=*/false, /*strip=*/0);
    }
    static ScheduleAttr ofUnrolledWindow(::mlir::MLIRContext *context, ::llvm::ArrayRef<int64_t> tile,
                                         ::llvm::ArrayRef<int64_t> reduce, int64_t warps) {
      return get(context, ::tilewright::graph::RootKind::Window, tile, reduce, warps, /*stages=*/1, {}, 0, 0,
                 /*order=*/1, /*parts=*/1, /*clustered=*/false, /*streamed=*/false, 0, false, false, /*unrolled=*/true,
                 /*strip=*/0);
    }
    /// The same, but for one of its parameters.
    ScheduleAttr withTile(::llvm::ArrayRef<int64_t> tile) const {
      return get(getContext(), getRoot(), tile, getReduce(), getWarps(), getStages(), getRegisters(), getPack(),
                 getGroups(), getOrder(), getParts(), getClustered(), getStreamed(), getMostTiles(), getInPlace(),
                 getMatrix(), getUnrolled(), getStrip());
    }
    ScheduleAttr withStages(int64_t stages) const {
      return get(getContext(), getRoot(), getTile(), getReduce(), getWarps(), stages, getRegisters(), getPack(),
                 getGroups(), getOrder(), getParts(), getClustered(), getStreamed(), getMostTiles(), getInPlace(),
                 getMatrix(), getUnrolled(), getStrip());
    }
    ScheduleAttr withPack(int64_t pack) const {
      return get(getContext(), getRoot(), getTile(), getReduce(), getWarps(), getStages(), getRegisters(), pack,
                 getGroups(), getOrder(), getParts(), getClustered(), getStreamed(), getMostTiles(), getInPlace(),
                 getMatrix(), getUnrolled(), getStrip());
    }
    ScheduleAttr withParts(int64_t parts, bool clustered, int64_t mostTiles) const {
      return get(getContext(), getRoot(), getTile(), getReduce(), getWarps(), getStages(), getRegisters(), getPack(),
                 getGroups(), getOrder(), parts, clustered, getStreamed(), mostTiles, getInPlace(), getMatrix(),
                 getUnrolled(), getStrip());
    }
    ScheduleAttr withOrder(int64_t order) const {
      return get(getContext(), getRoot(), getTile(), getReduce(), getWarps(), getStages(), getRegisters(), getPack(),
                 getGroups(), order, getParts(), getClustered(), getStreamed(), getMostTiles(), getInPlace(),
                 getMatrix(), getUnrolled(), getStrip());
    }
    ScheduleAttr withStreamed(bool streamed) const {
      return get(getContext(), getRoot(), getTile(), getReduce(), getWarps(), getStages(), getRegisters(), getPack(),
                 getGroups(), getOrder(), getParts(), getClustered(), streamed, getMostTiles(), getInPlace(),
                 getMatrix(), getUnrolled(), getStrip());
    }
    ScheduleAttr withStrip(int64_t strip) const {
      return get(getContext(), getRoot(), getTile(), getReduce(), getWarps(), getStages(), getRegisters(), getPack(),
                 getGroups(), getOrder(), getParts(), getClustered(), getStreamed(), getMostTiles(), getInPlace(),
                 getMatrix(), getUnrolled(), strip);
    }
    /// For a program that is one thread with vector registers.
    static ScheduleAttr ofVector(::mlir::MLIRContext *context, ::tilewright::graph::RootKind root,
                                 ::llvm::ArrayRef<int64_t> tile, ::llvm::ArrayRef<int64_t> reduce,
                                 ::llvm::ArrayRef<int64_t> registers, int64_t pack = 0, bool inPlace = false,
                                 bool matrix = false) {
      return get(context, root, tile, reduce, 1, 1, registers, pack, /*groups=*/0, /*order=*/1,
                 /*parts=*/1, /*clustered=*/false, /*streamed=*/false, /*mostTiles=*/0, inPlace, matrix,
                 /*unrolled=*/false, /*strip=*/0);
    }
  }];
}

def ReduceKind : I32EnumAttr<"ReduceKind", "how elements are combined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">]> {
  let cppNamespace = "::tilewright::tile";
  let genSpecializedAttr = 0;
}
def ReduceKindAttr : EnumAttr<Tile_Dialect, ReduceKind, "reduce_kind"> { let assemblyFormat = "`<` $value `>`"; }

//===- Programs ---------------------------------------------------------------------------------------------------===//

def KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, FunctionOpInterface, Symbol, AutomaticAllocationScope]> {
  let summary = "a block program, run once for each point of the grid";
  let description = [{
    Arguments are buffers, then symbols (index). A kernel with `shared_bytes` is placed: each of its tiles has a layout
    that spreads it over `threads`, and operands of tile.dot come from shared memory, or its left side from registers.

    * `sym_name`, `function_type`: the kernel's name, and the types of its arguments; it has no results.
    * `grid`: how often the program runs along x, y and z: three expressions of the symbols.
    * `schedule`: how the kernel was cut into tiles.
    * `symbols`: for each symbol argument, which of the module's symbols a launch passes.
    * `threads`: the threads of a block. Set by placing.
    * `shared_bytes`: the shared memory of a block. Set by placing.
    * `arg_attrs`, `res_attrs`: attributes of arguments. `tile.packed_from` and `tile.source` on a buffer say that a
      launch passes a constant packed in panels: the map to its elements, and its type.

    ```mlir
    tile.kernel @scale(%x: !tile.buffer<f32, ()[s0] -> (s0, 64)>, %y: !tile.buffer<f32, ()[s0] -> (s0, 64)>,
                       %s0: index) attributes {grid = affine_map<()[s0] -> (1, s0, 1)>} {
      %row = tile.program_id 1
      %c0 = arith.constant 0 : index
      %v = tile.load %x[%row, %c0] bounds ()[s0] -> (s0, 64) map (d0, d1) -> (d0, d1)
          : !tile.buffer<f32, ()[s0] -> (s0, 64)> -> tensor<1x64xf32>
      %two = arith.constant dense<2.0> : tensor<1x64xf32>
      %w = arith.mulf %v, %two : tensor<1x64xf32>
      tile.store %w, %y[%row, %c0] bounds ()[s0] -> (s0, 64) map (d0, d1) -> (d0, d1)
          : tensor<1x64xf32> -> !tile.buffer<f32, ()[s0] -> (s0, 64)>
      tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, AffineMapAttr:$grid,
                       OptionalAttr<ScheduleAttr>:$schedule, OptionalAttr<AffineMapAttr>:$symbols,
                       OptionalAttr<I64Attr>:$threads, OptionalAttr<I64Attr>:$shared_bytes,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return {}; }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// Arguments that are buffers come first.
    unsigned getNumBuffers();
    unsigned getNumSymbols() { return getNumArguments() - getNumBuffers(); }
    ::mlir::Value getSymbol(unsigned i) { return getArgument(getNumBuffers() + i); }
    bool isPlaced() { return getSharedBytes().has_value(); }
    /// How many blocks are a cluster: those that meet in a tile.part_sum or tile.step_end; 1 if there is none.
    int64_t getClusterBlocks();
  }];
}

def ReturnOp : Tile_Op<"return", [Pure, Terminator, ReturnLike, HasParent<"KernelOp">]> {
  let summary = "end of the program";
  let assemblyFormat = "attr-dict";
}

def ProgramIdOp : Tile_Op<"program_id", [Pure]> {
  let summary = "this program's position in the grid";
  let description = [{
    * `dim`: 0 for x, which programs that run together differ in first; 1 for y; 2 for z.
    * `result`: from 0 to the grid's size.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<2>]>:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict";
}

def SizeOp : Tile_Op<"size", [Pure]> {
  let summary = "the value of a size expression, or of an affine function of indices";
  let description = [{
    * `expr`: a map with one result, of the kernel's symbols and of the operands, its dimensions.
    * `operands`: one index for each dimension of the map.
    * `result`: the value of the expression.

    ```mlir
    %k = tile.size ()[s0] -> (s0 ceildiv 32)
    %q = tile.size (d0)[s0] -> (d0 floordiv s0)(%i)
    ```
  }];
  let arguments = (ins AffineMapAttr:$expr, Variadic<Index>:$operands);
  let results = (outs Index:$result);
  let assemblyFormat = "custom<BareMap>($expr) (`(` $operands^ `)`)? attr-dict";
  let hasVerifier = 1;
}

//===- Memory -----------------------------------------------------------------------------------------------------===//

def LoadOp : Tile_Op<"load", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, AttrSizedOperandSegments]> {
  let summary = "a tile from global memory, through a map, masked";
  let description = [{
    The head of this page says what coordinates are, and which elements are live.

    * `buffer`: the memory that is read.
    * `offsets`: the coordinate of the tile's first element in each of its dimensions.
    * `indices`: tiles of integers of the result's shape, which the map may read coordinates from.
    * `bounds`: how many coordinates are valid in each dimension of the tile; elements past them load as `fill`.
    * `map`: from the tile's coordinates, then the index tiles' elements, to the buffer's coordinates.
    * `guard`: the buffer's dimensions that the map may leave; what is outside loads as `fill`.
    * `fill`: the value of elements that are not read, 0 if there is none.
    * `result`: has the buffer's element type, or i1 where that is i8.

    ```mlir
    %a = tile.load %x[%m, %k] bounds ()[s0] -> (s0, 768) map (d0, d1) -> (d0, d1)
        : !tile.buffer<f16, ()[s0] -> (s0, 768)> -> tensor<128x32xf16>
    %w = tile.load %x[%p, %k] bounds () -> (12544, 147)
        map (d0, d1) -> (0, d0 floordiv 112 + d1 floordiv 21 - 3, d0 mod 112 + (d1 floordiv 3) mod 7 - 3, d1 mod 3)
        guard [1, 2] fill 0.0 : f32 : !tile.buffer<f32, () -> (1, 112, 112, 3)> -> tensor<96x3xf32>
    ```
  }];
  let arguments = (ins BufferType:$buffer, Variadic<Index>:$offsets, Variadic<AnyRankedTensor>:$indices,
                       AffineMapAttr:$bounds, AffineMapAttr:$map,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$guard, OptionalAttr<TypedAttrInterface>:$fill);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $buffer `[` $offsets `]` (`at` `(` $indices^ `:` type($indices) `)`)?
    `bounds` custom<BareMap>($bounds) `map` custom<BareMap>($map) (`guard` $guard^)? (`fill` $fill^)?
    attr-dict `:` type($buffer) `->` type($result)
  }];
  let hasVerifier = 1;
}

def StoreOp : Tile_Op<"store", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a tile to global memory, through a map, masked";
  let description = [{
    See tile.kernel for an example.

    * `value`: the tile; its element type is the buffer's, or i1 where that is i8.
    * `buffer`: the memory that is written.
    * `offsets`: the coordinate of the tile's first element in each of its dimensions.
    * `bounds`: how many coordinates are valid in each dimension; elements past them are not stored.
    * `map`: from the tile's coordinates to the buffer's; it takes no two live elements to one place, and none outside.
    * `staged`: the tile's dimension along which rows of the buffer run, if each warp puts its rows together in shared
      memory and stores them from there, 16 bytes at a time wherever they begin. Set by placing.
    * `scratch`: where in shared memory that is, in bytes from the block's start. Set by placing.
  }];
  let arguments = (ins Tile_Tile:$value, BufferType:$buffer, Variadic<Index>:$offsets, AffineMapAttr:$bounds,
                       AffineMapAttr:$map, OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$staged,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$scratch);
  let builders = [
    OpBuilder<(ins "mlir::Value":$value, "mlir::Value":$buffer, "mlir::ValueRange":$offsets,
                   "mlir::AffineMapAttr":$bounds, "mlir::AffineMapAttr":$map),
              [{ build($_builder, $_state, value, buffer, offsets, bounds, map, nullptr, nullptr); }]>
  ];
  let assemblyFormat = [{
    $value `,` $buffer `[` $offsets `]` `bounds` custom<BareMap>($bounds) `map` custom<BareMap>($map)
    (`staged` $staged^)? (`scratch` $scratch^)? attr-dict `:` type($value) `->` type($buffer)
  }];
  let hasVerifier = 1;
}

def CheckOp : Tile_Op<"check", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                AllTypesMatch<["index", "result"]>]> {
  let summary = "report to the error word a live index outside [0, size); its result is the index, clamped inside";
  let description = [{
    * `index`: a tile of integers.
    * `offsets`, `bounds`: say which elements are live, as those of tile.load do.
    * `size`: one expression of the kernel's symbols.
    * `site`: the number of the sentence that the runtime prints.
    * `result`: `index`, with everything below 0 or past the last one replaced by the nearest that is inside.

    ```mlir
    %safe = tile.check %ids[%i] bounds () -> (128) below () -> (30522) site 3 : tensor<64xi64>
    ```
  }];
  let arguments = (ins Tile_Integers:$index, Variadic<Index>:$offsets,
                       AffineMapAttr:$bounds, AffineMapAttr:$size, ConfinedAttr<I64Attr, [IntNonNegative]>:$site);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $index `[` $offsets `]` `bounds` custom<BareMap>($bounds) `below` custom<BareMap>($size) `site` $site
    attr-dict `:` type($index)
  }];
  let hasVerifier = 1;
}

//===- Tiles ------------------------------------------------------------------------------------------------------===//

def CoordinateOp : Tile_Op<"coordinate", [Pure]> {
  let summary = "offset + position along `dim`, as integers";
  let description = [{
    * `offset`: the coordinate of the tile's first element.
    * `dim`: the dimension of the tile along which coordinates grow.
    * `result`: a tile of integers.

    ```mlir
    %i = tile.coordinate %offset dim 1 : tensor<8x64xi64>
    ```
  }];
  let arguments = (ins Index:$offset, I64Attr:$dim);
  let results = (outs Tile_Integers:$result);
  let assemblyFormat = "$offset `dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + lhs * rhs, on matrix units where the target has them";
  let description = [{
    Ranks are equal; the last two dimensions are m x k, k x n and m x n, leading ones are batch and of equal size.

    * `lhs`, `rhs`: the factors, of one element type. Or a left side of singles that is computed from another product,
      and a right side of halves: then the left side is multiplied as a sum of halves, as precisely as singles are. Its
      elements must be in their range, as the weights of a softmax are.
    * `acc`: what is added to: f32 for half operands, i32 for bytes (which wraps), else of the operands' type.
    * `lhs_unsigned`, `rhs_unsigned`: the bytes of that operand have no sign; otherwise they are signed.
    * `live_depth`: the factors are zero from this k on; those products may be left out. Absent: none is known to be.
    * `live_columns`: no column from this one on is ever stored; the result may hold anything there. Absent: all are.
    * `instruction`: the matrix instruction that computes it, a row of the table in tilegen/tile/Layout.cpp; without
      one, multiplications and additions do. Set by placing.
    * `result`: the sums.

    ```mlir
    %c = tile.dot %a, %b, %acc : tensor<128x32xf16>, tensor<32x128xf16>, tensor<128x128xf32>
    %d = tile.dot %q, %k, %acc {live_depth = 80 : i64} : tensor<128x128xf16>, tensor<128x128xf16>, tensor<128x128xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$lhs, Tile_Tile:$rhs, Tile_Tile:$acc, UnitAttr:$lhs_unsigned, UnitAttr:$rhs_unsigned,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$live_depth,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$live_columns,
                       OptionalAttr<StrAttr>:$instruction);
  let results = (outs Tile_Tile:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "::mlir::Value":$acc, "bool":$lhsUnsigned,
                                 "bool":$rhsUnsigned), [{
    build($_builder, $_state, acc.getType(), lhs, rhs, acc, lhsUnsigned, rhsUnsigned, /*live_depth=*/nullptr,
          /*live_columns=*/nullptr, /*instruction=*/nullptr);
  }]>];
  let assemblyFormat = "$lhs `,` $rhs `,` $acc attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The tile's sizes, or what is live of them.
    int64_t liveDepth() { return getLiveDepth().value_or(getLhs().getType().getShape().back()); }
    int64_t liveColumns() { return getLiveColumns().value_or(getAcc().getType().getShape().back()); }
  }];
}

def ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "combine along `dim`, whose size becomes 1";
  let description = [{
    * `kind`: sum, prod, max or min. Of booleans, sum and max are or, prod and min are and.
    * `input`: the tile whose elements are combined.
    * `dim`: the dimension along which they are.
    * `scratch`: where warps exchange their parts in shared memory, in bytes from the block's start. Set by placing.
    * `result`: as `input`, of size 1 along `dim`.

    ```mlir
    %s = tile.reduce <sum> %x dim 1 : tensor<4x1024xf32> -> tensor<4x1xf32>
    ```
  }];
  let arguments = (ins ReduceKindAttr:$kind, Tile_Tile:$input, I64Attr:$dim,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$scratch);
  let results = (outs Tile_Tile:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "ReduceKind":$kind, "::mlir::Value":$input, "int64_t":$dim), [{
    build($_builder, $_state, result, kind, input, dim, /*scratch=*/nullptr);
  }]>];
  let assemblyFormat = "$kind $input `dim` $dim attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeat dimensions of size 1; ranks are equal";
  let description = [{
    * `input`: the tile that is repeated.
    * `result`: has the size of `input` in every dimension, but where that is 1.

    ```mlir
    %b = tile.broadcast %s : tensor<4x1xf32> -> tensor<4x1024xf32>
    ```
  }];
  let arguments = (ins Tile_Tile:$input);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

include "tilegen/tile/PlacedOps.td"
include "tilegen/tile/RoleOps.td"
include "tilegen/tile/PartOps.td"
include "tilegen/tile/StepOps.td"

#endif
