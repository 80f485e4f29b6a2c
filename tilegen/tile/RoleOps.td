// SPDX-License-Identifier: Apache-2.0
//===- RoleOps.td - roles of warps, and the rings through which they pass tiles -----------------------------------===//
//
// Where the target copies tiles by an engine of its own, a placed kernel may have roles: some warps start copies,
// others multiply what was copied. They meet at rings of slots in shared memory. tilegen/place/roles/AssignRoles.cpp
// makes such kernels.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef TILEWRIGHT_ROLE_OPS
#define TILEWRIGHT_ROLE_OPS

//===- Bulk copies ------------------------------------------------------------------------------------------------===//

def TensorMapType : TypeDef<Tile_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "a view of a buffer as a tensor that boxes are copied from";
  let description = [{
    `!tile.tensor_map<f16, [64, 128]>`: boxes of 128 rows of 64 elements; the fastest dimension comes first.
  }];
  let parameters = (ins "::mlir::Type":$element, SizeList<"of a box, fastest dimension first">:$box);
  let assemblyFormat = "`<` $element `,` $box `>`";
  let genVerifyDecl = 1;
}

def RingType : TypeDef<Tile_Dialect, "Ring"> {
  let mnemonic = "ring";
  let summary = "slots that are filled and emptied in turn, with a full and an empty barrier each";
  let description = [{
    `!tile.ring<slots = 4, releases = 8>`: a slot is empty once 8 warps have released it.
  }];
  let parameters = (ins "int64_t":$slots, "int64_t":$releases);
  let assemblyFormat = "`<` `slots` `=` $slots `,` `releases` `=` $releases `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Two barriers of eight bytes a slot: those of full slots, then those of empty ones.
    int64_t getBytes() const { return getSlots() * 16; }
  }];
}

def TensorMapOp : Tile_Op<"tensor_map", [Pure]> {
  let summary = "a buffer as a tensor for bulk copies, described by the runtime before the launch";
  let description = [{
    See tile.roles for an example.

    * `buffer`: the memory that is read.
    * `start`: the buffer's element that has the coordinates 0.
    * `sizes`: coordinates from 0 to these are valid, others are copied as zeros; fastest dimension first.
    * `strides`: elements from one coordinate to the next, in the same order; the first is 1.
    * `lower`, `upper`, `steps`: if given, the tensor is images [images, ..., y, x, channels], and rows of a box are
      pixels instead of neighbours. Each list has an entry for a spatial dimension, x first. Pixels are taken from
      coordinate `lower` to the dimension's last pixel plus `upper`, `steps` apart. The first two sizes of a box are its
      channels and its pixels.
    * `rounded`: elements are f32, and are rounded to tf32 as they are copied, to the nearest, ties to even.
    * `ahead`: if given, how many elements of each of two dimensions all blocks together ask for when they start, so
      that the first copies find them in the second-level cache. The tensor and the grid then have constant sizes.
    * `result`: the tensor, and the box that one copy moves.
  }];
  let arguments = (ins BufferType:$buffer, AffineMapAttr:$start, AffineMapAttr:$sizes, AffineMapAttr:$strides,
                       UnitAttr:$rounded, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$lower,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$upper,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$steps,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$ahead);
  let results = (outs TensorMapType:$result);
  let assemblyFormat = [{
    $buffer `start` custom<BareMap>($start) `sizes` custom<BareMap>($sizes) `strides` custom<BareMap>($strides)
    (`rounded` $rounded^)? (`pixels` $lower^ `to` $upper `step` $steps)? (`ahead` $ahead^)? attr-dict
    `:` type($buffer) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Lines of 128 bytes that rows of `elements` elements have.
    int64_t linesOfRow(int64_t elements);
    /// For so many lines all blocks together may ask ahead: each is an instruction of its own.
    static constexpr int64_t mostLinesAhead = 1 << 17;
  }];
}

def BulkCopyOp : Tile_Op<"bulk_copy", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "start the copy of a tile by the copy engine";
  let description = [{
    See tile.roles for an example. The copy is complete when the slot of the ring is full.

    * `map`: what is copied from. Its boxes are as wide as a row of banks, so a tile may take several.
    * `coordinates`: of the tile's first element, fastest dimension first.
    * `offsets`: where a tensor's rows are pixels, what is added to each pixel: its window's element, x first.
    * `shared`, `slot`: where the tile goes.
    * `ring`: its slot of the same number counts the bytes that have arrived.
  }];
  let arguments = (ins TensorMapType:$map, Variadic<Index>:$coordinates, Variadic<Index>:$offsets, SharedType:$shared,
                       Index:$slot, RingType:$ring);
  let assemblyFormat = [{
    $map `[` $coordinates `]` (`plus` `[` $offsets^ `]`)? `into` $shared `[` $slot `]` `signals` $ring attr-dict
    `:` type($map) `->` type($shared) `,` type($ring)
  }];
  let hasVerifier = 1;
}

def BulkStoreOp : Tile_Op<"bulk_store", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "store a tile by the copy engine, which reads it from shared memory";
  let description = [{
    Each warp writes the elements that it holds to shared memory, a piece of rows of 128 bytes at a time, and has the
    engine store that piece. It goes on while the engine reads, and waits only before a room is used again. Elements
    outside of the tensor are not stored.

    * `value`: the tile.
    * `map`: what is stored to. A box is a piece.
    * `coordinates`: of the tile's first element, fastest dimension first. The second one is that of the tile's rows.
    * `turn`: the number of the only piece that is stored now; nothing is stored if there is no such piece. All pieces
      are stored without it. A tile's pieces are stored in their order.
    * `shares`: the turns that a piece takes, which are numbered through. Each writes a share of the warp's elements to
      shared memory, and the last one has the engine store the piece.
    * `fast`: the tile's dimension along which the tensor's rows run.
    * `rooms`: the buffers of each warp in shared memory. Each holds one piece, so as many stores may be under way. It
      divides the number of pieces.
    * `scratch`: where the rooms are in shared memory, in bytes from the block's start. Set by placing.

    ```mlir
    tile.kernel @store(%y: !tile.buffer<f16, () -> (200, 64)>)
        attributes {grid = affine_map<() -> (4, 1, 1)>, threads = 128 : i64, shared_bytes = 8192 : i64} {
      %map = tile.tensor_map %y start () -> (0) sizes () -> (64, 200) strides () -> (1, 64)
          : !tile.buffer<f16, () -> (200, 64)> -> !tile.tensor_map<f16, [64, 16]>
      tile.roles attributes {warps = array<i64: 4>, registers = array<i64: 0>, elected = array<i1: false>} {
        %c0 = arith.constant 0 : index
        %c64 = arith.constant 64 : index
        %p = tile.program_id 0
        %m = arith.muli %p, %c64 : index
        %one = arith.constant dense<1.0> : tensor<64x64xf16,
            #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>>
        tile.bulk_store %one, %map[%c0, %m] fast 1 rooms 1 scratch 0 : tensor<64x64xf16,
            #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>>
            -> !tile.tensor_map<f16, [64, 16]>
      }
      tile.return
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, TensorMapType:$map, Variadic<Index>:$coordinates, Optional<Index>:$turn,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$shares,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$fast, ConfinedAttr<I64Attr, [IntPositive]>:$rooms,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$scratch);
  let assemblyFormat = [{
    $value `,` $map `[` $coordinates `]` (`turn` $turn^)? (`shares` $shares^)? `fast` $fast `rooms` $rooms
    (`scratch` $scratch^)? attr-dict `:` type($value) `->` type($map)
  }];
  let hasVerifier = 1;
}

//===- Rings ------------------------------------------------------------------------------------------------------===//

def RingAllocOp : Tile_Op<"ring_alloc", [MemoryEffects<[MemAlloc, MemWrite]>]> {
  let summary = "barriers of a ring in shared memory, all slots empty";
  let description = [{
    See tile.roles for an example.

    * `offset`: bytes from the start of the block's shared memory; 0 until addresses are allocated.
    * `result`: the ring.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$offset);
  let results = (outs RingType:$result);
  let assemblyFormat = "`offset` $offset attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def RingAcquireOp : Tile_Op<"ring_acquire", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait until the slot of a step is empty, and say how many bytes will fill it";
  let description = [{
    See tile.roles for an example.

    * `ring`: the ring.
    * `step`: counts from 0 how often the ring was filled: step 5 of a ring of four slots is the second use of slot 1.
    * `bytes`: what the bulk copies into that slot will bring; with them the slot is full.
    * `slot`: the number of the slot.
  }];
  let arguments = (ins RingType:$ring, Index:$step, ConfinedAttr<I64Attr, [IntPositive]>:$bytes);
  let results = (outs Index:$slot);
  let assemblyFormat = "$ring `[` $step `]` `bytes` $bytes attr-dict `:` type($ring)";
}

def RingWaitOp : Tile_Op<"ring_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait until the slot of a step is full";
  let description = [{
    See tile.roles for an example.

    * `ring`, `step`: as of tile.ring_acquire.
    * `slot`: the number of the slot.
  }];
  let arguments = (ins RingType:$ring, Index:$step);
  let results = (outs Index:$slot);
  let assemblyFormat = "$ring `[` $step `]` attr-dict `:` type($ring)";
}

def RingReleaseOp : Tile_Op<"ring_release", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "this warp no longer reads the slot of a step";
  let description = [{
    See tile.roles for an example.

    * `ring`, `step`: as of tile.ring_acquire.
  }];
  let arguments = (ins RingType:$ring, Index:$step);
  let assemblyFormat = "$ring `[` $step `]` attr-dict `:` type($ring)";
}

def RingDrainOp : Tile_Op<"ring_drain", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait until the slot of a step was released by all";
  let description = [{
    Groups of warps take turns in this way: the group that multiplies releases the step of its turn, and the next group
    waits for that.

    * `ring`, `step`: as of tile.ring_acquire. The step must be the latest or the one before in its slot, because an
      mbarrier has one bit of phase.

    ```mlir
    tile.ring_drain %ring[%turn] : !tile.ring<slots = 2, releases = 4>
    ```
  }];
  let arguments = (ins RingType:$ring, Index:$step);
  let assemblyFormat = "$ring `[` $step `]` attr-dict `:` type($ring)";
}

//===- Roles ------------------------------------------------------------------------------------------------------===//

def AwaitKernelsOp : Tile_Op<"await_kernels", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait until the kernels before have ended and what they wrote is there";
  let description = [{
    Where kernels may start before the ones before them end, a kernel or each of its roles begins with this, unless it
    says itself where it waits. Before that it may only start copies of constants, which no kernel writes.

    ```mlir
    tile.kernel @early(%x: !tile.buffer<f16, () -> (64, 64)>, %w: !tile.buffer<f16, () -> (64, 64)> {graph.constant})
        attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 128 : i64, shared_bytes = 16400 : i64} {
      %c0 = arith.constant 0 : index
      %sx = tile.shared_alloc offset 0 : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 1>
      %sw = tile.shared_alloc offset 8192 : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 1>
      %ring = tile.ring_alloc offset 16384 : !tile.ring<slots = 1, releases = 4>
      %mx = tile.tensor_map %x start () -> (0) sizes () -> (64, 64) strides () -> (1, 64)
          : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 64]>
      %mw = tile.tensor_map %w start () -> (0) sizes () -> (64, 64) strides () -> (1, 64)
          : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 64]>
      tile.roles attributes {warps = array<i64: 4>, registers = array<i64: 0>, elected = array<i1: true>} {
        %slot = tile.ring_acquire %ring[%c0] bytes 16384 : !tile.ring<slots = 1, releases = 4>
        tile.bulk_copy %mw[%c0, %c0] into %sw[%slot] signals %ring : !tile.tensor_map<f16, [64, 64]>
            -> !tile.shared<tensor<64x64xf16>, fast = 1, slots = 1>, !tile.ring<slots = 1, releases = 4>
        tile.await_kernels
        tile.bulk_copy %mx[%c0, %c0] into %sx[%slot] signals %ring : !tile.tensor_map<f16, [64, 64]>
            -> !tile.shared<tensor<64x64xf16>, fast = 1, slots = 1>, !tile.ring<slots = 1, releases = 4>
      }
      tile.return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def OrderedProgramOp : Tile_Op<"ordered_program", [Pure]> {
  let summary = "the number of the program that runs as number `index`";
  let description = [{
    Programs are numbered row by row. Those that run together should share rows and columns of operands in the
    second-level cache, so programs go down `group` rows before they take the next column.

    * `index`: from 0 to rows * columns.
    * `rows`, `columns`: one expression each, of the kernel's symbols.
    * `group`: how many rows; the last group may have fewer.
    * `result`: from 0 to rows * columns, another one for each index.

    ```mlir
    %p = tile.ordered_program %i rows ()[s0] -> (s0 ceildiv 128) columns () -> (24) group 8
    ```
  }];
  let arguments = (ins Index:$index, AffineMapAttr:$rows, AffineMapAttr:$columns,
                       ConfinedAttr<I64Attr, [IntPositive]>:$group);
  let results = (outs Index:$result);
  let assemblyFormat = [{
    $index `rows` custom<BareMap>($rows) `columns` custom<BareMap>($columns) `group` $group attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The result for this index; nullopt where rows or columns depend on a symbol, or are too many or none.
    std::optional<int64_t> programAt(int64_t index);
  }];
}

def RolesOp : Tile_Op<"roles", [NoTerminator, RecursiveMemoryEffects]> {
  let summary = "groups of warps, each with its own program";
  let description = [{
    The block's warps are handed out in the order of the regions; layouts inside of a region are over its own warps, and
    a tile.barrier there is of its own warps.

    * `warps`: of each role, a multiple of four.
    * `registers`: of each thread of the role (setmaxnreg), a multiple of 8; 0: as many as at the start. Together the
      roles may have at most what the block has at its start, rounded down: a role that asks for more waits forever.
    * `elected`: does one thread run the region for its role? It may only start copies.
    * `bodies`: the programs.

    ```mlir
    tile.kernel @roles(%x: !tile.buffer<f16, () -> (128, 64)>, %w: !tile.buffer<f16, () -> (64, 64)>)
        attributes {grid = affine_map<() -> (2, 1, 1)>, threads = 256 : i64, shared_bytes = 33024 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %sx = tile.shared_alloc offset 0 : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>
      %sw = tile.shared_alloc offset 16384 : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>
      %ring = tile.ring_alloc offset 32768 : !tile.ring<slots = 2, releases = 4>
      %mx = tile.tensor_map %x start () -> (0) sizes () -> (64, 128) strides () -> (1, 64)
          : !tile.buffer<f16, () -> (128, 64)> -> !tile.tensor_map<f16, [64, 64]>
      %mw = tile.tensor_map %w start () -> (0) sizes () -> (64, 64) strides () -> (1, 64)
          : !tile.buffer<f16, () -> (64, 64)> -> !tile.tensor_map<f16, [64, 64]>
      tile.roles attributes {warps = array<i64: 4, 4>, registers = array<i64: 240, 24>,
                             elected = array<i1: false, true>} {
        %zero = arith.constant dense<0.0> : tensor<64x64xf32,
            #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>>
        %slot = tile.ring_wait %ring[%c0] : !tile.ring<slots = 2, releases = 4>
        %a = tile.shared_read %sx[%slot] : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2> -> tensor<64x64xf16,
            #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>>
        %b = tile.shared_read %sw[%slot] : !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2> -> tensor<64x64xf16,
            #tile.layout<reg = [64, 512, 1024, 2048, 8, 16, 32], lane = [128, 256, 1, 2, 4], warp = [0, 0]>>
        %d = tile.dot %a, %b, %zero {instruction = "wgmma.m64n64k16x4"} : tensor<64x64xf16,
            #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>>,
            tensor<64x64xf16,
            #tile.layout<reg = [64, 512, 1024, 2048, 8, 16, 32], lane = [128, 256, 1, 2, 4], warp = [0, 0]>>,
            tensor<64x64xf32,
            #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>>
        %e = tile.dot_wait 0 of %d : tensor<64x64xf32,
            #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>>
        tile.ring_release %ring[%c0] : !tile.ring<slots = 2, releases = 4>
      }, {
        %p = tile.program_id 0
        %m = arith.muli %p, %c64 : index
        %slot = tile.ring_acquire %ring[%c0] bytes 16384 : !tile.ring<slots = 2, releases = 4>
        tile.bulk_copy %mx[%c0, %m] into %sx[%slot] signals %ring : !tile.tensor_map<f16, [64, 64]>
            -> !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>, !tile.ring<slots = 2, releases = 4>
        tile.bulk_copy %mw[%c0, %c0] into %sw[%slot] signals %ring : !tile.tensor_map<f16, [64, 64]>
            -> !tile.shared<tensor<64x64xf16>, fast = 1, slots = 2>, !tile.ring<slots = 2, releases = 4>
      }
      tile.return
    }
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$warps, DenseI64ArrayAttr:$registers, DenseBoolArrayAttr:$elected);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let assemblyFormat = "attr-dict-with-keyword $bodies";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Registers of each thread when a block of so many warps starts, if it has the multiprocessor to itself: a
    /// multiple of eight.
    static int64_t registersAtStart(int64_t warps);
  }];
}

#endif
