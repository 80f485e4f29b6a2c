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
