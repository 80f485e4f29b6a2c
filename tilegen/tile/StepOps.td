// SPDX-License-Identifier: Apache-2.0
//===- StepOps.td - programs that run a loop of steps, each on slices of their buffers ----------------------------===//
//
// A kernel with steps (graph.steps) has a loop around its program. Blocks that read each other's states are a cluster,
// and meet at the end of each step. tilegen/steps/RepeatSteps.cpp makes such programs.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef TILEWRIGHT_STEP_OPS
#define TILEWRIGHT_STEP_OPS

def BufferSliceOp : Tile_Op<"buffer_slice", [Pure]> {
  let summary = "one of the slices of equal size that follow each other in a buffer";
  let description = [{
    * `buffer`: what is cut into slices, from its first element on.
    * `index`: the slice's number.
    * `result`: the slice, of the same elements, with sizes of its own. It begins at a multiple of 16 bytes, which is
      the producer's promise.

    ```mlir
    tile.kernel @last_row(%x: !tile.buffer<f32, () -> (8, 64)>, %y: !tile.buffer<f32, () -> (64)>)
        attributes {grid = affine_map<() -> (1, 1, 1)>} {
      %c0 = arith.constant 0 : index
      %c7 = arith.constant 7 : index
      %row = tile.buffer_slice %x[%c7] : !tile.buffer<f32, () -> (8, 64)> -> !tile.buffer<f32, () -> (64)>
      %v = tile.load %row[%c0] bounds () -> (64) map (d0) -> (d0) : !tile.buffer<f32, () -> (64)> -> tensor<64xf32>
      tile.store %v, %y[%c0] bounds () -> (64) map (d0) -> (d0) : tensor<64xf32> -> !tile.buffer<f32, () -> (64)>
      tile.return
    }
    ```
  }];
  let arguments = (ins BufferType:$buffer, Index:$index);
  let results = (outs BufferType:$result);
  let assemblyFormat = "$buffer `[` $index `]` attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}

def StepEndOp : Tile_Op<"step_end", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait for all threads of the cluster; what they stored to global memory is seen";
  let description = [{
    * `blocks`: how many blocks are the cluster; 1: the block's own threads wait for each other.

    ```mlir
    tile.kernel @powers(%x: !tile.buffer<f32, () -> (2, 64)>, %n: index)
        attributes {grid = affine_map<()[s0] -> (1, 1, 1)>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %step = %c0 to %n step %c1 {
        %from = tile.size (d0) -> (d0 mod 2)(%step)
        %to = tile.size (d0) -> ((d0 + 1) mod 2)(%step)
        %last = tile.buffer_slice %x[%from] : !tile.buffer<f32, () -> (2, 64)> -> !tile.buffer<f32, () -> (64)>
        %next = tile.buffer_slice %x[%to] : !tile.buffer<f32, () -> (2, 64)> -> !tile.buffer<f32, () -> (64)>
        %v = tile.load %last[%c0] bounds () -> (64) map (d0) -> (d0) : !tile.buffer<f32, () -> (64)> -> tensor<64xf32>
        %w = arith.mulf %v, %v : tensor<64xf32>
        tile.store %w, %next[%c0] bounds () -> (64) map (d0) -> (d0) : tensor<64xf32> -> !tile.buffer<f32, () -> (64)>
        tile.step_end blocks 1
      }
      tile.return
    }
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$blocks);
  let assemblyFormat = "`blocks` $blocks attr-dict";
  let hasVerifier = 1;
}

#endif
