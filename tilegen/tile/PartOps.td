// SPDX-License-Identifier: Apache-2.0
//===- PartOps.td - tiles that several programs compute together --------------------------------------------------===//
//
// Where there are few tiles and many steps, several programs share one tile. There are two ways to bring together what
// they computed, and tilegen/place/ShareSums.cpp makes kernels of both kinds:
//
// - Each writes what it has to a workspace in global memory and arrives; the one that arrives last reads the parts of
//   all, combines them in their order, and goes on alone. Which one that is differs from run to run, the bits of the
//   result do not.
// - They are the blocks of a cluster, which can write to each other's shared memory. Each gives every other the share
//   of the tile that the other finishes, adds up in their order what it was given, and goes on with its own share.
//
// A row that is too long for one block's registers is cut into shares from the start, one for each block of a cluster
// (tilegen/place/ShareRows.cpp). What a block has reduced of its share it gives to all others.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef TILEWRIGHT_PART_OPS
#define TILEWRIGHT_PART_OPS

def WorkspaceOp : Tile_Op<"workspace", [MemoryEffects<[MemAlloc]>]> {
  let summary = "global memory that the runtime gives to a launch beside its buffers";
  let description = [{
    See tile.part_arrive for an example. It stands in the kernel itself, and is a parameter behind the kernel's buffers.

    * `zeroed`: a row of i32 that are zero when the launch starts, and must be so when it ends: such memory is shared by
      all launches of a plan. Without it, nobody else has the memory, and its contents are undefined.
    * `result`: the memory, of a size that is known.
  }];
  let arguments = (ins UnitAttr:$zeroed);
  let results = (outs BufferType:$result);
  let assemblyFormat = "(`zeroed` $zeroed^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def PartWriteOp : Tile_Op<"part_write", [MemoryEffects<[MemWrite]>]> {
  let summary = "write a part of a shared tile to its workspace";
  let description = [{
    See tile.part_arrive for an example. Registers are written as they lie, so the tile is read back in the same layout.

    * `value`: the part, with a layout.
    * `workspace`: sizes are the number of shared tiles, of parts of each, and of the elements that all threads hold.
    * `tile`, `part`: their numbers.
    * `live`: sizes beyond which elements mean nothing. Registers that hold no others in any thread are left out.
  }];
  let arguments = (ins Tile_Tile:$value, BufferType:$workspace, Index:$tile, Index:$part,
                       OptionalAttr<DenseI64ArrayAttr>:$live);
  let assemblyFormat = [{
    $value `,` $workspace `[` $tile `,` $part `]` (`live` $live^)? attr-dict `:` type($value) `->` type($workspace)
  }];
  let hasVerifier = 1;
}

def PartReadOp : Tile_Op<"part_read", [MemoryEffects<[MemRead]>]> {
  let summary = "a part of a shared tile, by the program that arrived last";
  let description = [{
    See tile.part_arrive for an example.

    * `workspace`, `tile`, `part`, `live`: as of tile.part_write.
    * `result`: what the program that computes this part has written; 0 where that was left out.
  }];
  let arguments = (ins BufferType:$workspace, Index:$tile, Index:$part, OptionalAttr<DenseI64ArrayAttr>:$live);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $workspace `[` $tile `,` $part `]` (`live` $live^)? attr-dict `:` type($workspace) `->` type($result)
  }];
  let hasVerifier = 1;
}

def PartJoinOp : Tile_Op<"part_join", [Pure, SingleBlock]> {
  let summary = "how the results of a loop are combined if programs share its steps";
  let description = [{
    Stands behind a loop around products that carries more than sums, in kernels whose schedule has `parts`. Placing
    replaces it by loads of the parts and the operations of its body: the last program starts with what the loop starts
    with, and joins the results of each part, in the order of the parts. What the loop starts with must be neutral:
    joined with it, a part stays as it is. If the tile is not shared, the results are the operands.

    * `values`: all results of the loop.
    * `live`: sizes beyond which elements mean nothing, as of tile.part_write.
    * `body`: takes what the parts so far are together, then another part; yields what they are with it.
    * `results`: of all parts.

    ```mlir
    %top:2 = tile.part_join %loopMax, %loopSum live [8, 1]
        : tensor<16x1xf32>, tensor<16x1xf32> -> tensor<16x1xf32>, tensor<16x1xf32> {
    ^bb0(%max: tensor<16x1xf32>, %sum: tensor<16x1xf32>, %partMax: tensor<16x1xf32>, %partSum: tensor<16x1xf32>):
      %m = arith.maximumf %max, %partMax : tensor<16x1xf32>
      %s = arith.addf %sum, %partSum : tensor<16x1xf32>
      tile.part_yield %m, %s : tensor<16x1xf32>, tensor<16x1xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$values, OptionalAttr<DenseI64ArrayAttr>:$live);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$values (`live` $live^)? attr-dict `:` type($values) `->` type($results) $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Emits the body for these values; returns what it yields.
    ::llvm::SmallVector<::mlir::Value> emitJoin(::mlir::OpBuilder &builder, ::mlir::ValueRange soFar,
                                                ::mlir::ValueRange part);
  }];
}

def PartYieldOp : Tile_Op<"part_yield", [Pure, Terminator, HasParent<"PartJoinOp">]> {
  let summary = "what the parts are together, in tile.part_join";
  let description = [{
    See tile.part_join for an example.

    * `values`: one for each result.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def PartArriveOp : Tile_Op<"part_arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "the parts that this program has written are complete; have all programs of the tile said so?";
  let description = [{
    The result is true in the last of the tile's programs, which may then read the parts of all. All threads of the
    block, or of the role, execute it.

    * `arrivals`: a counter for each tile, in a zeroed workspace; the last program sets it back to zero.
    * `tile`: the number of the shared tile.
    * `parts`: how many programs share it.
    * `scratch`: four bytes of shared memory by which the block's threads learn the answer, from the block's start. Set
      by placing.
    * `last`: the same in all threads; true in one program for each tile.

    ```mlir
    tile.kernel @share(%y: !tile.buffer<f32, () -> (2, 128)>)
        attributes {grid = affine_map<() -> (4, 1, 1)>, threads = 128 : i64, shared_bytes = 128 : i64} {
      %parts = tile.workspace : !tile.buffer<f32, () -> (2, 2, 128)>
      %arrivals = tile.workspace zeroed : !tile.buffer<i32, () -> (2)>
      %p = tile.program_id 0
      %tile = tile.size (d0) -> (d0 floordiv 2)(%p)
      %part = tile.size (d0) -> (d0 mod 2)(%p)
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant dense<1.0>
          : tensor<1x128xf32, #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>>
      tile.part_write %one, %parts[%tile, %part]
          : tensor<1x128xf32, #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>>
          -> !tile.buffer<f32, () -> (2, 2, 128)>
      %last = tile.part_arrive %arrivals[%tile] of 2 scratch 0 : !tile.buffer<i32, () -> (2)>
      scf.if %last {
        %a = tile.part_read %parts[%tile, %c0] : !tile.buffer<f32, () -> (2, 2, 128)>
            -> tensor<1x128xf32, #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>>
        %b = tile.part_read %parts[%tile, %c1] : !tile.buffer<f32, () -> (2, 2, 128)>
            -> tensor<1x128xf32, #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>>
        %sum = arith.addf %a, %b
            : tensor<1x128xf32, #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>>
        tile.store %sum, %y[%tile, %c0] bounds () -> (2, 128) map (d0, d1) -> (d0, d1)
            : tensor<1x128xf32, #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>>
            -> !tile.buffer<f32, () -> (2, 128)>
      }
      tile.return
    }
    ```
  }];
  let arguments = (ins BufferType:$arrivals, Index:$tile, ConfinedAttr<I64Attr, [IntMinValue<2>]>:$parts,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$scratch);
  let results = (outs I1:$last);
  let assemblyFormat = [{
    $arrivals `[` $tile `]` `of` $parts (`scratch` $scratch^)? attr-dict `:` type($arrivals)
  }];
  let hasVerifier = 1;
}

def PartSumOp : Tile_Op<"part_sum", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "this block's share of a tile, summed over the parts that the blocks of its cluster have computed";
  let description = [{
    The tile is cut along one dimension into as many shares as there are parts, so that all elements of a share are in
    the same registers of all threads. Every block writes each share but its own to the shared memory of the block that
    finishes it, waits until the others have written theirs, and adds what it has been given to its own: first that of
    the next block, then of the one after that, around the cluster. So the bits are the same in each run. All threads of
    the block, or of the role, execute it.

    * `values`: what this block has computed of each tile.
    * `part`: the block's number in its cluster, which is also the number of the share that it finishes.
    * `parts`: how many blocks a cluster has.
    * `scratch`: where the block's shared memory has room for what it is given: `parts` - 1 shares of each value, at a
      multiple of 16. Set by placing.
    * `results`: this block's share of each tile. Its type has the size of `values` divided by `parts` in one dimension.

    ```mlir
    tile.kernel @share(%y: !tile.buffer<f32, () -> (1, 256)>)
        attributes {grid = affine_map<() -> (2, 1, 1)>, threads = 128 : i64, shared_bytes = 1024 : i64} {
      %part = tile.program_id 0
      %c0 = arith.constant 0 : index
      %one = arith.constant dense<1.0>
          : tensor<1x256xf32, #tile.layout<reg = [128], lane = [1, 2, 4, 8, 16], warp = [32, 64]>>
      %sum = tile.part_sum %one[%part] of 2 scratch 0
          : tensor<1x256xf32, #tile.layout<reg = [128], lane = [1, 2, 4, 8, 16], warp = [32, 64]>>
          -> tensor<1x128xf32, #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>>
      %n = tile.size (d0) -> (d0 * 128)(%part)
      tile.store %sum, %y[%c0, %n] bounds () -> (1, 256) map (d0, d1) -> (d0, d1)
          : tensor<1x128xf32, #tile.layout<reg = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>>
          -> !tile.buffer<f32, () -> (1, 256)>
      tile.return
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$values, Index:$part, ConfinedAttr<I64Attr, [IntMinValue<2>]>:$parts,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$scratch);
  let results = (outs Variadic<Tile_Tile>:$results);
  let assemblyFormat = [{
    $values `[` $part `]` `of` $parts (`scratch` $scratch^)? attr-dict `:` type($values) `->` type($results)
  }];
  let hasVerifier = 1;
}

def PartReduceOp : Tile_Op<"part_reduce", [AllTypesMatch<["value", "result"]>, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "combine one value of each block of a cluster";
  let description = [{
    Every block writes its value to the shared memory of all of the cluster's blocks, its own included, waits until the
    others have done so, and combines all values in the order of the blocks. So all blocks have the same bits, in each
    run. All threads of the block execute it.

    * `kind`: sum, prod, max or min, as of tile.reduce.
    * `value`: a tile of a single element, which all threads hold.
    * `part`: the block's number in its cluster.
    * `parts`: how many blocks a cluster has.
    * `scratch`: where the block's shared memory has room for a value of each block. Set by placing.
    * `result`: what all values are together.

    ```mlir
    tile.kernel @reduce(%y: !tile.buffer<f32, () -> (2, 1)>)
        attributes {grid = affine_map<() -> (2, 1, 1)>, threads = 128 : i64, shared_bytes = 128 : i64} {
      %part = tile.program_id 0
      %c0 = arith.constant 0 : index
      %one = arith.constant dense<1.0> : tensor<1x1xf32, #tile.layout<reg = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>>
      %two = tile.part_reduce <sum> %one[%part] of 2 scratch 0
          : tensor<1x1xf32, #tile.layout<reg = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>>
      tile.store %two, %y[%part, %c0] bounds () -> (2, 1) map (d0, d1) -> (d0, d1)
          : tensor<1x1xf32, #tile.layout<reg = [], lane = [0, 0, 0, 0, 0], warp = [0, 0]>>
          -> !tile.buffer<f32, () -> (2, 1)>
      tile.return
    }
    ```
  }];
  let arguments = (ins ReduceKindAttr:$kind, Tile_Tile:$value, Index:$part,
                       ConfinedAttr<I64Attr, [IntMinValue<2>]>:$parts,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$scratch);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{
    $kind $value `[` $part `]` `of` $parts (`scratch` $scratch^)? attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

#endif
