// SPDX-License-Identifier: Apache-2.0
// Layouts: which elements of a tile each register, lane and warp holds.
//
// A tile's sizes are powers of two, so an element's flat (row-major) index is a string of bits; tensor<8x16> has
//
//     bit   6 5 4 | 3 2 1 0
//           row   | column
//
// A place has three parts: the number of a register in its thread, the thread's lane in its warp (wavefront), and the
// warp in its block. A layout says which bits of the index each bit of these numbers toggles. With reg = [1, 2],
// lane = [4, 8, 16, 32, 64], warp = []:
//
//     element(register r, lane l) = xor of reg[i] for the bits i of r, and of lane[i] for the bits i of l
//
// so a thread holds four neighbours of a row, and four lanes hold a row. A basis of 0 means that places differing in
// that bit hold the same element (a broadcast). These lists of numbers are enough for everything else:
//   - blocked layouts, and the operand fragments of matrix instructions, are rows of such numbers;
//   - a value whose size is 1 in some dimension has the layout of its larger neighbours with that dimension's bits
//     struck out;
//   - shared memory with a swizzle is a map of the same kind (xor-linear) from flat indices to addresses, so a thread's
//     address is the xor of a part known at compile time (its register) and a part computed once (its lane and warp).
//     The idea of layouts as linear maps over bits is Triton's "linear layouts".
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace tilewright::tile {

/// The bits of each dimension in a flat index. Sizes are powers of two.
class TileShape {
public:
  explicit TileShape(llvm::ArrayRef<int64_t> sizes);
  unsigned rank() const { return bits_.size(); }
  unsigned bits() const { return shift_.empty() ? 0 : shift_[0] + bits_[0]; }
  unsigned bits(unsigned dim) const { return bits_[dim]; }
  uint32_t elements() const { return 1u << bits(); }
  /// The flat bit that is bit `bit` of the coordinate in `dim`.
  uint32_t basis(unsigned dim, unsigned bit) const { return 1u << (shift_[dim] + bit); }
  uint32_t coordinate(uint32_t flat, unsigned dim) const { return (flat >> shift_[dim]) & ((1u << bits_[dim]) - 1); }
  uint32_t mask(unsigned dim) const { return ((1u << bits_[dim]) - 1) << shift_[dim]; }
  static bool valid(llvm::ArrayRef<int64_t> sizes);

private:
  llvm::SmallVector<unsigned> bits_, shift_;
};

/// Which elements each (register, lane, warp) holds.
struct Layout {
  llvm::SmallVector<uint32_t> reg, lane, warp;

  unsigned registers() const { return 1u << reg.size(); }
  uint32_t element(uint32_t r, uint32_t l = 0, uint32_t w = 0) const;
  /// The register that holds `part`, a combination of register bases; the lowest if several do.
  std::optional<unsigned> registerOf(uint32_t part) const;
  /// All flat bits that lanes and warps can toggle.
  uint32_t threadMask() const;
  bool operator==(const Layout &) const = default;
};

/// The layout of a value that is broadcast from `narrow` to `wide` sizes, whose layout is given: bits of dimensions of
/// size 1 are struck out, and registers that would then repeat an element are dropped.
Layout project(const Layout &layout, const TileShape &wide, const TileShape &narrow);

/// What it takes to bring a tile from one layout to another.
enum class Conversion { None, Registers, Shared };
Conversion conversion(const Layout &from, const Layout &to);

/// How a block's threads are spread over a tile: `vector` neighbours along `order[0]` in a thread, then lanes, then
/// warps, then further registers, each filling the dimensions in that order (fastest first). If there is a
/// `registerDim`, each thread also holds `registerCount` neighbours along it, a power of two, for transposing in
/// registers. With `mostLanes`, no more threads than that are along `order[0]`; the rest of it is in registers.
struct Blocking {
  llvm::SmallVector<unsigned> order;
  unsigned vector = 1;
  unsigned lanes = 32, warps = 4;
  std::optional<unsigned> registerDim = std::nullopt;
  unsigned registerCount = 1;
  std::optional<unsigned> mostLanes = std::nullopt;
};
Layout blocked(const TileShape &shape, const Blocking &blocking);

/// The three operands of acc[m x n] += a[m x k] * b[k x n].
enum class Operand { A, B, C };

/// From where a matrix instruction reads its operands.
enum class Feed {
  RegistersAlongK, // a lane holds neighbours along k, and reads them from rows of shared memory that run along k
  Registers,       // the same, but shared memory may run along either dimension (ldmatrix)
  Shared,          // the instruction reads rows of shared memory, along either dimension, while its warps continue
};

/// A matrix instruction's fragments, as bits of m, n and k. "k0 m3 k3" names the registers' bits, lowest first; 0 is a
/// bit that repeats.
struct Fragments {
  llvm::StringLiteral name;
  unsigned m, n, k;
  unsigned steps; // instructions along k
  Feed feed;
  llvm::StringLiteral reg[3], lane[3], warp[3]; // for A, B, C
  unsigned bytes = 2;                           // of an operand's element
  unsigned products = 1;                        // of tf32 for one of f32 (tilegen/tile/MatmulPrecision.h)
  /// Does the instruction compute the transpose? Its left side is then the product's right one, and is in registers.
  bool transposed = false;
  /// Is k permuted so that neighbours along it are in one lane, as a result's neighbouring columns are? Then a result
  /// can be the next product's left side as it lies. The instruction takes that side's second and third register
  /// exchanged.
  bool chained = false;

  bool readsShared() const { return feed == Feed::Shared; }
  /// Must shared memory run along k for this operand? Only of halves can an instruction read rows along the other
  /// dimension from shared memory by itself.
  bool readsAlongK(Operand operand) const {
    return feed == Feed::RegistersAlongK || bytes == 1 || needsRounding() || (transposed && operand == Operand::A);
  }
  /// Does the instruction read both sides of singles from shared memory, where it drops the bits that tf32 does not
  /// have? Then the copy engine must have rounded them (TensorMapOp).
  bool needsRounding() const { return readsShared() && bytes == 4 && !transposed; }
  /// Can only the loop of a role feed it, which rewrites its operands or has the engine round them?
  bool isForRoles() const { return transposed || needsRounding(); }
  /// May this operand be in registers?
  bool mayHold(Operand operand) const { return operand == (transposed ? Operand::B : Operand::A); }
  /// Lanes of a warp.
  unsigned lanes() const { return 2u << lane[0].count(' '); }
  /// Warps that issue one instruction together.
  unsigned warps() const { return warp[0].empty() ? 1 : 2u << warp[0].count(' '); }
};

/// Have an instruction's results, taken as m x k, the layout of its left side?
bool chains(const Fragments &fragments);

/// The name of the row of the instruction that computes a single one of the products of tf32 of which `fragments` makes
/// a product of f32.
llvm::StringRef singleProductOf(const Fragments &fragments);

/// The row named `name`, or null.
const Fragments *findFragments(llvm::StringRef name);
llvm::ArrayRef<Fragments> allFragments();

/// How warps are spread over the m and n of a contraction: 2^m times 2^n.
struct WarpGrid {
  unsigned mBits = 0, nBits = 0;
};
/// The arrangement in which each warp's part of the accumulators `acc` is nearest to a square. Warps that issue an
/// instruction together count as one. Warps for which no part is left compute the same as others.
WarpGrid spreadWarps(const Fragments &fragments, const TileShape &acc, unsigned warps);

/// The arrangement that accumulators of this layout have.
WarpGrid gridOf(const Fragments &fragments, const Layout &acc, const TileShape &shape);

/// An operand's layout in a contraction whose last two dimensions are cut into fragments; leading dimensions have size
/// 1.
Layout fragmentLayout(const Fragments &fragments, Operand operand, const TileShape &shape, WarpGrid grid,
                      unsigned warps);

/// The operand's layout without matrix units: a thread holds the rows or columns of its accumulators, at every k.
Layout multiplyAddOperand(const Layout &acc, const TileShape &accShape, Operand operand, const TileShape &shape);

/// A tile in shared memory: rows along `fast`, in chunks of `chunk` elements whose position in the row is xor-ed with
/// the row number, so that eight rows' chunks at one position lie in different banks. A tile with longer rows than
/// `bankRow` is cut into panels of that width, one after the other: the form that matrix instructions read by
/// themselves (PTX ISA, "128-byte swizzling"). Rows of 64 and 32 bytes are what it calls 64- and 32-byte swizzling.
struct SharedLayout {
  TileShape shape;
  unsigned fast = 0;
  unsigned chunk = 1;    // elements in a chunk (16 bytes); a power of two
  unsigned bankRow = 64; // elements in 128 bytes, one row of banks
  bool swizzled = true;

  /// Element address of a flat index: a bijection, linear over xor.
  uint32_t address(uint32_t flat) const;
};

} // namespace tilewright::tile
