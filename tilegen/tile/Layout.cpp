// SPDX-License-Identifier: Apache-2.0
// The algebra of layouts, and the tables of matrix instructions' fragments.
#include "tilegen/tile/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

using namespace tilewright::tile;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

// In order of preference.
//
// wgmma: PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16". Four warps hold 16 rows each. A row of this table
// is the smallest tile for which it pays: 64 columns, and as much k as 128 bytes hold. Up to 256 neighbouring columns
// of a warp are one instruction. Operands stay in shared memory; their fragments here are those that they would have in
// registers. The last row of the table is the same instruction for strips of a tile's columns, and for steps along the
// few channels of a pixel, which roles feed with rows of 64 or 32 bytes.
//
// mma.sync: PTX ISA, "Matrix Fragments for mma.m16n8k16". lane / 4 is the row (A, C) or column (B), lane % 4 a pair of
// neighbours.
//
// Bytes, for both: four neighbours along k are a word, so a lane's words are where its pairs of halves would be, at
// twice the k ("Matrix Fragments for mma.m16n8k32", "Register Fragments for wgmma.mma_async.m64nNk32").
//
// Singles: PTX ISA, "Matrix Fragments for mma.m16n8k8" and "Register Fragments for wgmma.mma_async.m64nNk8" of .tf32:
// an element is a word, where a pair of halves would be. wgmma reads from shared memory only operands that run along k.
// In memory a product's left side mostly does and its right side does not. So wgmma computes the transpose, with the
// right side in registers. The product's columns may be assigned to wgmma's 64 rows in any order. Here they are so that
// lanes read the right side without bank conflicts and store neighbours together. Where the right side runs along k as
// well, and one product of tf32 is enough, no operand needs registers (`tf32.rounded`). The order of k is free too:
// where a product's result is the next one's left side, k is permuted (`chained`).
//
// mfma: AMD, "Matrix Instruction Calculator" (v_mfma_f32_32x32x8_f16, v_mfma_f32_16x16x16_f16). Two differences from
// what is written there:
//  - the operands are exchanged, and the instruction computes the transpose, so that a lane's neighbouring registers
//    are neighbours of a row of the result, which is stored as vectors;
//  - two instructions make one step of twice the k, so that a lane's part of an operand is 16 bytes. Which k an
//    instruction sums is free, as long as both operands agree. Where k is 16, the smaller instruction is used alone.
static constexpr Fragments fragmentTable[] = {
    {"wgmma.m64n64k16x4",
     64,
     64,
     64,
     4,
     Feed::Shared,
     {"k0 m3 k3 k4 k5", "k0 k3 k4 k5 n3 n4 n5", "n0 m3 n3 n4 n5"},
     {"k1 k2 m0 m1 m2", "k1 k2 n0 n1 n2", "n1 n2 m0 m1 m2"},
     {"m4 m5", "0 0", "m4 m5"}},
    {"wgmma.m64n64k32x4.s8",
     64,
     64,
     128,
     4,
     Feed::Shared,
     {"k0 k1 m3 k4 k5 k6", "k0 k1 k4 k5 k6 n3 n4 n5", "n0 m3 n3 n4 n5"},
     {"k2 k3 m0 m1 m2", "k2 k3 n0 n1 n2", "n1 n2 m0 m1 m2"},
     {"m4 m5", "0 0", "m4 m5"},
     1},
    {"wgmma.m64n64k8x4.tf32x3",
     64,
     64,
     32,
     4,
     Feed::Shared,
     {"k2 k3 k4 m3 m4 m5", "n0 k2 k3 k4", "m0 n0 m3 m4 m5"},
     {"k0 k1 m0 m1 m2", "k0 k1 n1 n4 n2", "m1 m2 n1 n4 n2"},
     {"0 0", "n3 n5", "n3 n5"},
     4,
     3,
     /*transposed=*/true},
    {"wgmma.m64n64k8x4.tf32.rounded",
     64,
     64,
     32,
     4,
     Feed::Shared,
     {"m3 k2 k3 k4", "k2 k3 k4 n3 n4 n5", "n0 m3 n3 n4 n5"},
     {"k0 k1 m0 m1 m2", "k0 k1 n0 n1 n2", "n1 n2 m0 m1 m2"},
     {"m4 m5", "0 0", "m4 m5"},
     4},
    {"wgmma.m64n64k8x4.tf32",
     64,
     64,
     32,
     4,
     Feed::Shared,
     {"k2 k3 k4 m3 m4 m5", "n0 k2 k3 k4", "m0 n0 m3 m4 m5"},
     {"k0 k1 m0 m1 m2", "k0 k1 n1 n4 n2", "m1 m2 n1 n4 n2"},
     {"0 0", "n3 n5", "n3 n5"},
     4,
     1,
     /*transposed=*/true},
    {"mma.m16n8k32.s8",
     16,
     8,
     32,
     1,
     Feed::RegistersAlongK,
     {"k0 k1 m3 k4", "k0 k1 k4", "n0 m3"},
     {"k2 k3 m0 m1 m2", "k2 k3 n0 n1 n2", "n1 n2 m0 m1 m2"},
     {"", "", ""},
     1},
    {"mma.m16n8k16",
     16,
     8,
     16,
     1,
     Feed::Registers,
     {"k0 m3 k3", "k0 k3", "n0 m3"},
     {"k1 k2 m0 m1 m2", "k1 k2 n0 n1 n2", "n1 n2 m0 m1 m2"},
     {"", "", ""}},
    {"mma.m16n8k8.tf32x3",
     16,
     8,
     8,
     1,
     Feed::Registers,
     {"m3 k2", "k2", "n0 m3"},
     {"k0 k1 m0 m1 m2", "k0 k1 n0 n1 n2", "n1 n2 m0 m1 m2"},
     {"", "", ""},
     4,
     3},
    {"mma.m16n8k8.tf32",
     16,
     8,
     8,
     1,
     Feed::Registers,
     {"m3 k2", "k2", "n0 m3"},
     {"k0 k1 m0 m1 m2", "k0 k1 n0 n1 n2", "n1 n2 m0 m1 m2"},
     {"", "", ""},
     4},
    {"mma.m16n8k8.tf32x3.chained",
     16,
     8,
     8,
     1,
     Feed::Registers,
     {"k0 m3", "k0", "n0 m3"},
     {"k1 k2 m0 m1 m2", "k1 k2 n0 n1 n2", "n1 n2 m0 m1 m2"},
     {"", "", ""},
     4,
     3,
     /*transposed=*/false,
     /*chained=*/true},
    {"mma.m16n8k8.tf32.chained",
     16,
     8,
     8,
     1,
     Feed::Registers,
     {"k0 m3", "k0", "n0 m3"},
     {"k1 k2 m0 m1 m2", "k1 k2 n0 n1 n2", "n1 n2 m0 m1 m2"},
     {"", "", ""},
     4,
     1,
     /*transposed=*/false,
     /*chained=*/true},
    {"mfma.32x32x8x2",
     32,
     32,
     16,
     2,
     Feed::RegistersAlongK,
     {"k0 k1 k2", "k0 k1 k2", "n0 n1 n3 n4"},
     {"m0 m1 m2 m3 m4 k3", "n0 n1 n2 n3 n4 k3", "m0 m1 m2 m3 m4 n2"},
     {"", "", ""}},
    {"mfma.16x16x16x2",
     16,
     16,
     32,
     2,
     Feed::RegistersAlongK,
     {"k0 k1 k2", "k0 k1 k2", "n0 n1"},
     {"m0 m1 m2 m3 k3 k4", "n0 n1 n2 n3 k3 k4", "m0 m1 m2 m3 n2 n3"},
     {"", "", ""}},
    {"mfma.16x16x16",
     16,
     16,
     16,
     1,
     Feed::RegistersAlongK,
     {"k0 k1", "k0 k1", "n0 n1"},
     {"m0 m1 m2 m3 k2 k3", "n0 n1 n2 n3 k2 k3", "m0 m1 m2 m3 n2 n3"},
     {"", "", ""}},
    {"wgmma.m64n16k16",
     64,
     16,
     16,
     1,
     Feed::Shared,
     {"k0 m3 k3", "k0 k3 n3", "n0 m3 n3"},
     {"k1 k2 m0 m1 m2", "k1 k2 n0 n1 n2", "n1 n2 m0 m1 m2"},
     {"m4 m5", "0 0", "m4 m5"}},
};

//===- Shapes -----------------------------------------------------------------------------------------------------===//

bool TileShape::valid(ArrayRef<int64_t> sizes) {
  unsigned bits = 0;
  for (int64_t size : sizes) {
    if (size <= 0 || !llvm::isPowerOf2_64(size))
      return false;
    bits += llvm::Log2_64(size);
  }
  return bits < 31;
}

TileShape::TileShape(ArrayRef<int64_t> sizes) : bits_(sizes.size()), shift_(sizes.size()) {
  assert(valid(sizes) && "tiles on a GPU have sizes that are powers of two");
  unsigned shift = 0;
  for (unsigned i = sizes.size(); i-- > 0;) {
    bits_[i] = llvm::Log2_64(sizes[i]);
    shift_[i] = shift;
    shift += bits_[i];
  }
}

//===- Layouts ----------------------------------------------------------------------------------------------------===//

static uint32_t combine(ArrayRef<uint32_t> bases, uint32_t bits) {
  uint32_t part = 0;
  for (unsigned i = 0; i < bases.size(); ++i)
    if (bits >> i & 1)
      part ^= bases[i];
  return part;
}

uint32_t Layout::element(uint32_t r, uint32_t l, uint32_t w) const {
  return combine(reg, r) ^ combine(lane, l) ^ combine(warp, w);
}

std::optional<unsigned> Layout::registerOf(uint32_t part) const {
  for (unsigned r = 0; r < registers(); ++r)
    if (combine(reg, r) == part)
      return r;
  return std::nullopt;
}

uint32_t Layout::threadMask() const {
  uint32_t mask = 0;
  for (uint32_t basis : lane)
    mask |= basis;
  for (uint32_t basis : warp)
    mask |= basis;
  return mask;
}

Layout tilewright::tile::project(const Layout &layout, const TileShape &wide, const TileShape &narrow) {
  auto projectBasis = [&](uint32_t basis) {
    uint32_t result = 0;
    for (unsigned d = 0; d < wide.rank(); ++d) {
      uint32_t coordinate = wide.coordinate(basis, d);
      for (unsigned bit = 0; bit < narrow.bits(d); ++bit)
        if (coordinate >> bit & 1)
          result |= narrow.basis(d, bit);
    }
    return result;
  };
  Layout result;
  for (uint32_t basis : layout.reg)
    if (uint32_t projected = projectBasis(basis))
      result.reg.push_back(projected);
  for (uint32_t basis : layout.lane)
    result.lane.push_back(projectBasis(basis));
  for (uint32_t basis : layout.warp)
    result.warp.push_back(projectBasis(basis));
  return result;
}

Conversion tilewright::tile::conversion(const Layout &from, const Layout &to) {
  if (from == to)
    return Conversion::None;
  if (from.lane != to.lane || from.warp != to.warp)
    return Conversion::Shared;
  bool held = llvm::all_of(llvm::seq(to.registers()),
                           [&](unsigned r) { return from.registerOf(combine(to.reg, r)).has_value(); });
  return held ? Conversion::Registers : Conversion::Shared;
}

//===- Blocked ----------------------------------------------------------------------------------------------------===//

namespace {
/// Gives out the index bits of a tile as bases, lowest first, dimension after dimension; 0 when none are left.
class BitSource {
public:
  BitSource(const TileShape &shape, ArrayRef<unsigned> order) : shape_(shape), order_(order), taken_(shape.rank(), 0) {}

  uint32_t takeFrom(unsigned dim) { return taken_[dim] < shape_.bits(dim) ? shape_.basis(dim, taken_[dim]++) : 0; }
  uint32_t take() { return takeFirst(order_); }
  /// The same, but of the first dimension last.
  uint32_t takeBehind() {
    uint32_t basis = takeFirst(order_.drop_front());
    return basis ? basis : takeFrom(order_[0]);
  }

private:
  uint32_t takeFirst(ArrayRef<unsigned> dims) {
    for (unsigned dim : dims)
      if (uint32_t basis = takeFrom(dim))
        return basis;
    return 0;
  }

  const TileShape &shape_;
  ArrayRef<unsigned> order_;
  SmallVector<unsigned> taken_;
};
} // namespace

Layout tilewright::tile::blocked(const TileShape &shape, const Blocking &blocking) {
  BitSource bits(shape, blocking.order);
  Layout layout;
  for (unsigned i = 0; i < llvm::Log2_32(blocking.vector); ++i)
    if (uint32_t basis = bits.takeFrom(blocking.order[0]))
      layout.reg.push_back(basis);
  if (blocking.registerDim)
    for (unsigned i = 0; i < llvm::Log2_32(blocking.registerCount); ++i)
      if (uint32_t basis = bits.takeFrom(*blocking.registerDim))
        layout.reg.push_back(basis);
  unsigned lanes = llvm::Log2_32(blocking.lanes), threads = lanes + llvm::Log2_32(blocking.warps),
           ofFirst = blocking.mostLanes ? llvm::Log2_32(*blocking.mostLanes) : threads;
  for (unsigned i = 0; i < threads; ++i)
    (i < lanes ? layout.lane : layout.warp).push_back(i < ofFirst ? bits.take() : bits.takeBehind());
  while (uint32_t basis = bits.take())
    layout.reg.push_back(basis);
  return layout;
}

//===- Fragments --------------------------------------------------------------------------------------------------===//

ArrayRef<Fragments> tilewright::tile::allFragments() { return fragmentTable; }

const Fragments *tilewright::tile::findFragments(StringRef name) {
  for (const Fragments &row : fragmentTable)
    if (row.name == name)
      return &row;
  return nullptr;
}

StringRef tilewright::tile::singleProductOf(const Fragments &fragments) {
  for (const Fragments &row : fragmentTable)
    if (row.bytes == fragments.bytes && row.transposed == fragments.transposed && row.products == 1)
      return row.name;
  llvm_unreachable("for each row of three products there is one of a single product");
}

/// The number of the dimension called 'm', 'n' or 'k' in this operand; nullopt if it has no such dimension.
static std::optional<unsigned> dimensionOf(char name, Operand operand, unsigned rank) {
  static constexpr StringRef names[] = {"mk", "kn", "mn"};
  size_t position = names[static_cast<int>(operand)].find(name);
  return position == StringRef::npos ? std::nullopt : std::optional<unsigned>(rank - 2 + position);
}

static SmallVector<uint32_t> basesOf(StringRef bits, Operand operand, const TileShape &shape) {
  SmallVector<uint32_t> bases;
  SmallVector<StringRef> words;
  bits.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words)
    bases.push_back(word == "0" ? 0 : shape.basis(*dimensionOf(word[0], operand, shape.rank()), word[1] - '0'));
  return bases;
}

WarpGrid tilewright::tile::spreadWarps(const Fragments &fragments, const TileShape &acc, unsigned warps) {
  unsigned m = acc.bits(acc.rank() - 2) - llvm::Log2_32(fragments.m),
           n = acc.bits(acc.rank() - 1) - llvm::Log2_32(fragments.n);
  unsigned mSize = acc.bits(acc.rank() - 2), nSize = acc.bits(acc.rank() - 1);
  WarpGrid grid;
  for (unsigned bits = llvm::Log2_32(warps / fragments.warps()); bits > 0; --bits) {
    bool canM = grid.mBits < m, canN = grid.nBits < n;
    if (canM && (!canN || mSize - grid.mBits >= nSize - grid.nBits))
      ++grid.mBits;
    else if (canN)
      ++grid.nBits;
  }
  return grid;
}

bool tilewright::tile::chains(const Fragments &fragments) {
  TileShape shape({fragments.m, std::max(fragments.n, fragments.k)});
  auto layout = [&](Operand operand) { return fragmentLayout(fragments, operand, shape, {}, fragments.warps()); };
  return fragments.bytes >= 2 && layout(Operand::C) == layout(Operand::A);
}

WarpGrid tilewright::tile::gridOf(const Fragments &fragments, const Layout &acc, const TileShape &shape) {
  WarpGrid grid;
  for (uint32_t basis :
       ArrayRef(acc.warp).drop_front(std::min<size_t>(llvm::Log2_32(fragments.warps()), acc.warp.size()))) {
    grid.mBits += shape.coordinate(basis, shape.rank() - 2) != 0;
    grid.nBits += shape.coordinate(basis, shape.rank() - 1) != 0;
  }
  return grid;
}

Layout tilewright::tile::fragmentLayout(const Fragments &fragments, Operand operand, const TileShape &shape,
                                        WarpGrid grid, unsigned warps) {
  int which = static_cast<int>(operand);
  Layout layout;
  layout.reg = basesOf(fragments.reg[which], operand, shape);
  layout.lane = basesOf(fragments.lane[which], operand, shape);
  layout.warp = basesOf(fragments.warp[which], operand, shape);
  struct Extent {
    char name;
    unsigned size, warpBits;
  } extents[] = {{'k', fragments.k, 0}, {'n', fragments.n, grid.nBits}, {'m', fragments.m, grid.mBits}};
  if (fragments.transposed) // the dimension that the instruction takes as its columns comes before its rows
    std::swap(extents[1], extents[2]);
  for (auto [name, size, warpBits] : extents)
    if (auto dim = dimensionOf(name, operand, shape.rank()))
      for (unsigned bit = llvm::Log2_32(size); bit + warpBits < shape.bits(*dim); ++bit)
        layout.reg.push_back(shape.basis(*dim, bit));
  for (auto [name, size, warpBits] : extents) {
    auto dim = dimensionOf(name, operand, shape.rank());
    for (unsigned bit = 0; bit < warpBits; ++bit)
      layout.warp.push_back(dim ? shape.basis(*dim, shape.bits(*dim) - warpBits + bit) : 0);
  }
  layout.warp.resize(llvm::Log2_32(warps), 0);
  return layout;
}

Layout tilewright::tile::multiplyAddOperand(const Layout &acc, const TileShape &accShape, Operand operand,
                                            const TileShape &shape) {
  unsigned rank = shape.rank(), own = operand == Operand::A ? rank - 2 : rank - 1,
           k = operand == Operand::A ? rank - 1 : rank - 2;
  auto translate = [&](uint32_t basis) {
    uint32_t coordinate = accShape.coordinate(basis, own);
    return coordinate ? shape.basis(own, llvm::Log2_32(coordinate)) : 0;
  };
  Layout layout;
  for (uint32_t basis : acc.reg)
    if (uint32_t translated = translate(basis))
      layout.reg.push_back(translated);
  for (unsigned bit = 0; bit < shape.bits(k); ++bit)
    layout.reg.push_back(shape.basis(k, bit));
  llvm::transform(acc.lane, std::back_inserter(layout.lane), translate);
  llvm::transform(acc.warp, std::back_inserter(layout.warp), translate);
  return layout;
}

//===- Shared memory ----------------------------------------------------------------------------------------------===//

uint32_t SharedLayout::address(uint32_t flat) const {
  uint32_t row = 0, rowBits = 0;
  for (unsigned d = shape.rank(); d-- > 0;)
    if (d != fast) {
      row |= shape.coordinate(flat, d) << rowBits;
      rowBits += shape.bits(d);
    }
  uint32_t columns = std::min(1u << shape.bits(fast), bankRow), rows = shape.elements() >> shape.bits(fast);
  uint32_t panel = shape.coordinate(flat, fast) / columns, column = shape.coordinate(flat, fast) % columns;
  uint32_t phases = std::max(columns / chunk, 1u), rowsPerBankRow = bankRow / columns;
  if (swizzled)
    column ^= (row / rowsPerBankRow % phases) * chunk;
  return (panel * rows + row) * columns + column;
}
