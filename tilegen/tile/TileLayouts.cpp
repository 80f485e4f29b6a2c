// SPDX-License-Identifier: Apache-2.0
// Layouts as the types of placed tile programs have them.
#include "tilegen/tile/TileLayouts.h"

using namespace mlir;
using namespace tilewright::tile;

LayoutAttr tilewright::tile::toAttr(MLIRContext *context, const Layout &layout) {
  auto widen = [](ArrayRef<uint32_t> bases) { return SmallVector<int64_t>(bases.begin(), bases.end()); };
  return LayoutAttr::get(context, widen(layout.reg), widen(layout.lane), widen(layout.warp));
}

Layout tilewright::tile::toLayout(LayoutAttr attr) {
  auto narrow = [](ArrayRef<int64_t> bases) { return SmallVector<uint32_t>(bases.begin(), bases.end()); };
  return {narrow(attr.getReg()), narrow(attr.getLane()), narrow(attr.getWarp())};
}

Layout tilewright::tile::layoutOf(Type tile) {
  return toLayout(cast<LayoutAttr>(cast<RankedTensorType>(tile).getEncoding()));
}

RankedTensorType tilewright::tile::withLayout(RankedTensorType type, const Layout &layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), toAttr(type.getContext(), layout));
}

SharedLayout tilewright::tile::sharedLayout(SharedType type) {
  RankedTensorType tile = type.getTile();
  unsigned bytes = std::max<unsigned>(llvm::divideCeil(tile.getElementTypeBitWidth(), 8), 1);
  return {TileShape(tile.getShape()), static_cast<unsigned>(type.getFast()), 16 / bytes, 128 / bytes,
          /*swizzled=*/true};
}

const Fragments *tilewright::tile::fragmentsOf(DotOp dot) {
  std::optional<StringRef> name = dot.getInstruction();
  return name ? findFragments(*name) : nullptr;
}

Layout tilewright::tile::operandLayout(DotOp dot, Operand operand, RankedTensorType type) {
  auto acc = cast<RankedTensorType>(dot.getAcc().getType());
  TileShape shape(type.getShape()), accShape(acc.getShape());
  Layout accLayout = layoutOf(acc);
  if (const Fragments *fragments = fragmentsOf(dot)) {
    unsigned warps = 1u << accLayout.warp.size();
    return fragmentLayout(*fragments, operand, shape, gridOf(*fragments, accLayout, accShape), warps);
  }
  return multiplyAddOperand(accLayout, accShape, operand, shape);
}

int64_t tilewright::tile::exchangedBytes(ReduceOp reduce) {
  auto input = cast<RankedTensorType>(reduce.getInput().getType());
  TileShape shape(input.getShape());
  int64_t partials = 1;
  for (uint32_t basis : layoutOf(input).warp)
    if (basis & shape.mask(reduce.getDim()))
      partials *= 2;
  int64_t bytes = llvm::divideCeil(input.getElementTypeBitWidth(), 8);
  return partials == 1 ? 0 : partials * cast<RankedTensorType>(reduce.getType()).getNumElements() * bytes;
}

SmallVector<unsigned> tilewright::tile::liveRegisters(Type tile, ArrayRef<int64_t> live) {
  Layout layout = layoutOf(tile);
  TileShape shape(cast<RankedTensorType>(tile).getShape());
  return llvm::filter_to_vector(llvm::seq<unsigned>(0, layout.registers()), [&](unsigned r) {
    // Lanes and warps toggle other bits of the index than registers do, so thread 0 has the smallest coordinates.
    return llvm::all_of(llvm::enumerate(live),
                        [&](auto size) { return shape.coordinate(layout.element(r), size.index()) < size.value(); });
  });
}

int64_t tilewright::tile::heldElements(Type tile, ArrayRef<int64_t> live) {
  Layout layout = layoutOf(tile);
  return int64_t(liveRegisters(tile, live).size()) << (layout.lane.size() + layout.warp.size());
}

namespace {

/// A tile and one of its shares: the tile's highest bits of one dimension number the shares.
struct Cut {
  Cut(RankedTensorType tile, unsigned dim, int64_t parts)
      : shape(tile.getShape()), sizes(tile.getShape()), number(llvm::Log2_64(parts)) {
    sizes[dim] /= parts;
    low = shape.basis(dim, shape.bits(dim) - number), high = shape.mask(dim) & ~(low - 1);
  }

  /// A combination of the tile's bits that stays within a share, as the share's bits.
  uint32_t within(uint32_t basis) const {
    TileShape share(sizes);
    uint32_t result = 0;
    for (unsigned dim = 0; dim < shape.rank(); ++dim)
      if (share.bits(dim))
        result |= shape.coordinate(basis, dim) * share.basis(dim, 0);
    return result;
  }

  TileShape shape;
  SmallVector<int64_t> sizes; // of a share
  unsigned number;            // of bits
  uint32_t low, high;         // the lowest of these bits, and all of them
};

} // namespace

std::optional<RankedTensorType> tilewright::tile::shareType(RankedTensorType tile, unsigned dim, int64_t parts) {
  if (tile.getDimSize(dim) < parts)
    return std::nullopt;
  Cut cut(tile, dim, parts);
  Layout layout = layoutOf(tile), share;
  unsigned numberBits = 0;
  for (uint32_t basis : layout.reg) {
    bool isOfNumber = basis & cut.high;
    if (isOfNumber && !llvm::isPowerOf2_32(basis))
      return std::nullopt;
    numberBits += isOfNumber;
    if (!isOfNumber)
      share.reg.push_back(cut.within(basis));
  }
  for (auto [from, to] : {std::pair(&layout.lane, &share.lane), std::pair(&layout.warp, &share.warp)})
    for (uint32_t basis : *from) {
      if (basis & cut.high)
        return std::nullopt;
      to->push_back(cut.within(basis));
    }
  if (numberBits != cut.number)
    return std::nullopt;
  return withLayout(RankedTensorType::get(cut.sizes, tile.getElementType()), share);
}

std::optional<unsigned> tilewright::tile::cutDim(RankedTensorType tile, RankedTensorType share, int64_t parts) {
  if (tile.getRank() != share.getRank())
    return std::nullopt;
  for (unsigned dim = 0; dim < tile.getRank(); ++dim)
    if (tile.getDimSize(dim) != share.getDimSize(dim))
      return shareType(tile, dim, parts) == share ? std::optional(dim) : std::nullopt;
  return std::nullopt;
}

SmallVector<unsigned> tilewright::tile::registersOfShare(RankedTensorType tile, unsigned dim, int64_t parts,
                                                         int64_t number) {
  Cut cut(tile, dim, parts);
  Layout layout = layoutOf(tile);
  SmallVector<unsigned> registers;
  for (unsigned r = 0; r < layout.registers(); ++r)
    if ((layout.element(r) & cut.high) == uint32_t(number) * cut.low)
      registers.push_back(r);
  return registers;
}

int64_t tilewright::tile::givenBytes(PartSumOp sum) {
  int64_t bytes = 0;
  for (Type share : sum.getResultTypes())
    bytes += heldElements(share, {}) * llvm::divideCeil(cast<RankedTensorType>(share).getElementTypeBitWidth(), 8);
  return bytes * static_cast<int64_t>(sum.getParts() - 1);
}

int64_t tilewright::tile::givenBytes(PartReduceOp reduce) {
  Type element = cast<RankedTensorType>(reduce.getValue().getType()).getElementType();
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) * static_cast<int64_t>(reduce.getParts());
}
