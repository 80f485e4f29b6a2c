// SPDX-License-Identifier: Apache-2.0
//===- PlacedOps.td - what placing adds to tile programs: layouts and shared memory -------------------------------===//
//
// After placing (on GPUs), every tile's type carries a #tile.layout, and operands of tile.dot come from shared memory
// that has an address. See tilegen/tile/Layout.h for what the numbers of a layout mean, and tilegen/place/ for how they
// are chosen.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef TILEWRIGHT_PLACED_OPS
#define TILEWRIGHT_PLACED_OPS

def LayoutAttr : AttrDef<Tile_Dialect, "Layout", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let cppClassName = "LayoutAttr";
  let mnemonic = "layout";
  let summary = "which elements each register, lane and warp of a block holds";
  let description = [{
    `#tile.layout<reg = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128, 0]>`: if bit i of the number of a register, lane
    or warp is set, then the bits that `reg[i]`, `lane[i]` or `warp[i]` has are toggled in the element's flat index in
    its tile. 0 means that both hold the same element. In the type of a tile, each bit of the index occurs once.
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$reg, OptionalArrayRefParameter<"int64_t">:$lane,
                        OptionalArrayRefParameter<"int64_t">:$warp);
  let assemblyFormat = [{
    `<` `reg` `=` custom<Bases>($reg) `,` `lane` `=` custom<Bases>($lane) `,` `warp` `=` custom<Bases>($warp) `>`
  }];
  let genVerifyDecl = 1;
}

def SharedType : TypeDef<Tile_Dialect, "Shared"> {
  let mnemonic = "shared";
  let summary = "slots in shared memory, each holding one tile in swizzled rows";
  let description = [{
    `!tile.shared<tensor<128x32xf16>, fast = 1, slots = 3>`: rows run along dimension `fast`. 16-byte chunks of a row
    are xor-ed with the row's number; rows longer than 128 bytes are cut into panels (SharedLayout in
    tilegen/tile/Layout.h).
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tile, "int64_t":$fast, "int64_t":$slots);
  let assemblyFormat = "`<` $tile `,` `fast` `=` $fast `,` `slots` `=` $slots `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getSlotBytes() const {
      return getTile().getNumElements() * ::llvm::divideCeil(getTile().getElementTypeBitWidth(), 8);
    }
    int64_t getBytes() const { return getSlotBytes() * getSlots(); }
    /// What the offset of an allocation is a multiple of: after 1024 bytes the pattern of chunks repeats.
    int64_t getAlignment() const { return ::std::clamp<int64_t>(getSlotBytes(), 128, 1024); }
  }];
}

def SharedAllocOp : Tile_Op<"shared_alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "room in shared memory, `offset` bytes from the block's start";
  let description = [{
    See tile.shared_copy for an example.

    * `offset`: bytes from the start of the block's shared memory; 0 until addresses are allocated.
    * `result`: the slots.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$offset);
  let results = (outs SharedType:$result);
  let assemblyFormat = "`offset` $offset attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def SharedCopyOp : Tile_Op<"shared_copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "copy a tile from global to shared memory, asynchronously where the target can";
  let description = [{
    The copy is complete after a tile.copy_wait that covers the tile.copy_commit after it, and seen by other threads
    after the next tile.barrier.

    * `buffer`, `offsets`, `bounds`, `map`, `guard`: what is read, as by tile.load; elements that are not, become zero.
    * `shared`: where the tile goes.
    * `slot`: the number of the slot that it fills.
    * `layout`: which thread copies what.

    ```mlir
    tile.kernel @placed(%x: !tile.buffer<f16, () -> (32, 16)>)
        attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 32 : i64, shared_bytes = 4096 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %s = tile.shared_alloc offset 0 : !tile.shared<tensor<32x16xf16>, fast = 1, slots = 2>
      %t = tile.shared_alloc offset 2048 : !tile.shared<tensor<16x16xf16>, fast = 1, slots = 1>
      tile.shared_copy %x[%c0, %c0] bounds () -> (32, 16) map (d0, d1) -> (d0, d1) into %s[%c0]
          by <reg = [1, 2, 4, 256], lane = [8, 16, 32, 64, 128], warp = []>
          : !tile.buffer<f16, () -> (32, 16)> -> !tile.shared<tensor<32x16xf16>, fast = 1, slots = 2>
      tile.copy_commit
      %one = arith.constant dense<1.0>
          : tensor<16x16xf16, #tile.layout<reg = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>>
      tile.shared_write %one, %t[%c0]
          : tensor<16x16xf16, #tile.layout<reg = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>>
          -> !tile.shared<tensor<16x16xf16>, fast = 1, slots = 1>
      tile.copy_wait 0
      tile.barrier
      %a = tile.shared_read %s[%c0] : !tile.shared<tensor<32x16xf16>, fast = 1, slots = 2>
          -> tensor<32x16xf16, #tile.layout<reg = [1, 128, 8, 256], lane = [2, 4, 16, 32, 64], warp = []>>
      tile.return
    }
    ```
  }];
  let arguments = (ins BufferType:$buffer, Variadic<Index>:$offsets, AffineMapAttr:$bounds, AffineMapAttr:$map,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$guard, SharedType:$shared, Index:$slot,
                       LayoutAttr:$layout);
  let assemblyFormat = [{
    $buffer `[` $offsets `]` `bounds` custom<BareMap>($bounds) `map` custom<BareMap>($map) (`guard` $guard^)?
    `into` $shared `[` $slot `]` `by` $layout attr-dict `:` type($buffer) `->` type($shared)
  }];
  let hasVerifier = 1;
}

def SharedWriteOp : Tile_Op<"shared_write", [MemoryEffects<[MemWrite]>]> {
  let summary = "write a tile from registers to a slot";
  let description = [{
    See tile.shared_copy for an example.

    * `value`: the tile, with a layout.
    * `shared`: where it goes.
    * `slot`: the number of the slot that it fills.
  }];
  let arguments = (ins Tile_Tile:$value, SharedType:$shared, Index:$slot);
  let assemblyFormat = "$value `,` $shared `[` $slot `]` attr-dict `:` type($value) `->` type($shared)";
  let hasVerifier = 1;
}

def SharedReadOp : Tile_Op<"shared_read", [MemoryEffects<[MemRead]>]> {
  let summary = "a tile from a slot, read by the tile.dot that uses it";
  let description = [{
    See tile.shared_copy for an example.

    * `shared`: where the tile is.
    * `slot`: the number of the slot that holds it.
    * `result`: the tile, in the layout that the instruction of the tile.dot reads it in.
  }];
  let arguments = (ins SharedType:$shared, Index:$slot);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$shared `[` $slot `]` attr-dict `:` type($shared) `->` type($result)";
  let hasVerifier = 1;
}

def SharedLoadOp : Tile_Op<"shared_load", [MemoryEffects<[MemRead]>]> {
  let summary = "a tile from a slot in registers";
  let description = [{
    Each thread reads the elements that the layout gives it. Where only tile.dot reads them, it does so step by step:
    tile.shared_read.

    * `shared`: where the tile is.
    * `slot`: the number of the slot that holds it.
    * `result`: the tile.

    ```mlir
    tile.kernel @both(%y: !tile.buffer<f32, () -> (64, 32)>)
        attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 128 : i64, shared_bytes = 16384 : i64} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %s = tile.shared_alloc offset 0 : !tile.shared<tensor<64x32xf32>, fast = 1, slots = 2>
      %x = tile.shared_load %s[%c0] : !tile.shared<tensor<64x32xf32>, fast = 1, slots = 2> -> tensor<64x32xf32,
          #tile.layout<reg = [1, 2, 512, 1024], lane = [4, 8, 16, 32, 64], warp = [128, 256]>>
      %n = arith.negf %x : tensor<64x32xf32,
          #tile.layout<reg = [1, 2, 512, 1024], lane = [4, 8, 16, 32, 64], warp = [128, 256]>>
      tile.shared_write %n, %s[%c1] : tensor<64x32xf32,
          #tile.layout<reg = [1, 2, 512, 1024], lane = [4, 8, 16, 32, 64], warp = [128, 256]>>
          -> !tile.shared<tensor<64x32xf32>, fast = 1, slots = 2>
      tile.return
    }
    ```
  }];
  let arguments = (ins SharedType:$shared, Index:$slot);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$shared `[` $slot `]` attr-dict `:` type($shared) `->` type($result)";
  let hasVerifier = 1;
}

def CopyCommitOp : Tile_Op<"copy_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "end a group of copies";
  let description = [{ See tile.shared_copy for an example. }];
  let assemblyFormat = "attr-dict";
}

def CopyWaitOp : Tile_Op<"copy_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait until at most `pending` groups of this thread's copies are incomplete";
  let description = [{
    See tile.shared_copy for an example.

    * `pending`: how many of the latest groups need not be complete.
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait for the block's other threads; what they wrote to shared memory is seen";
  let description = [{
    See tile.shared_copy for an example.

    * `warps`: the number of neighbouring warps of a role that wait for one another, without the other warps.

    ```mlir
    tile.kernel @alone()
        attributes {grid = affine_map<() -> (1, 1, 1)>, threads = 256 : i64, shared_bytes = 0 : i64} {
      tile.roles attributes {warps = array<i64: 8>, registers = array<i64: 0>, elected = array<i1: false>} {
        tile.barrier warps 4
      }
      tile.return
    }
    ```
  }];
  let arguments = (ins OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$warps);
  let builders = [OpBuilder<(ins), "build($_builder, $_state, /*warps=*/::mlir::IntegerAttr());">];
  let assemblyFormat = "(`warps` $warps^)? attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The most groups into which the warps of one role may be divided.
    static constexpr int64_t mostGroups = 4;
  }];
}

def DotWaitOp : Tile_Op<"dot_wait", [MemoryEffects<[MemRead, MemWrite]>, InferTypeOpAdaptor]> {
  let summary = "wait until at most `pending` of the tile.dot before it are still running";
  let description = [{
    Only for instructions that read shared memory by themselves: until then what they read may not be overwritten, nor
    their accumulators be used by anything but the next tile.dot.

    * `accumulators`: results of those tile.dot, with layouts.
    * `pending`: how many of the latest tile.dot may still be at work.
    * `results`: the accumulators, which may be used now.

    ```mlir
    %done = tile.dot_wait 0 of %acc
        : tensor<64x64xf32, #tile.layout<reg = [1, 512, 8, 16, 32], lane = [2, 4, 64, 128, 256], warp = [1024, 2048]>>
    ```
  }];
  let arguments = (ins Variadic<Tile_Tile>:$accumulators, ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let results = (outs Variadic<Tile_Tile>:$results);
  let assemblyFormat = "$pending (`of` $accumulators^ `:` type($accumulators))? attr-dict";
  let hasVerifier = 1;
}

#endif
