// SPDX-License-Identifier: Apache-2.0
// Packs constants into the panels that kernels read.
//
//   source [K][N]        map (p, k, j) -> (k, p * 64 + j)        packed [ceil(N / 64)][K][64], zero past N
#include "backend/plan/PlanConstants.h"

#include "frontend/graph/Sizes.h"
#include "runtime/execute/HostMemory.h"
#include "runtime/plan/MemoryRanges.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstring>

using namespace mlir;

namespace tilewright {

static constexpr size_t blockBytes = size_t(32) << 20, copyChunk = size_t(16) << 20, alignment = 64;

PlanConstants::~PlanConstants() {
  for (const Block &block : blocks) {
    forgetRange(block.memory);
    std::free(block.memory);
  }
}

/// Reserves memory at the end of the last block, or in a new one. Pages that are not written take no physical memory.
std::span<std::byte> PlanConstants::reserve(size_t bytes) {
  if (blocks.empty() ||
      blocks.back().used + bytes > blocks.back().size) { // alignment may have moved `used` past the end
    size_t size = std::max(bytes, blockBytes);
    auto *memory = static_cast<std::byte *>(runtime::allocateHostMemory(size));
    if (!memory)
      throw std::bad_alloc();
    blocks.push_back({memory, size, 0});
    rememberRange({memory, size}, Backing::HugePages);
  }
  return {blocks.back().memory + blocks.back().used, bytes};
}

/// Adds the constant in reserved memory, or releases the memory if an equal constant exists.
uint32_t PlanConstants::keep(std::span<const std::byte> reserved) {
  uint32_t id = pool.add(reserved);
  if (entries[id].data() == reserved.data())
    blocks.back().used += llvm::alignTo(std::max<size_t>(reserved.size(), 1), alignment);
  return id;
}

uint32_t PlanConstants::add(std::span<const std::byte> bytes) {
  std::span<std::byte> copy = reserve(bytes.size());
  for (size_t at = 0; at < bytes.size(); at += copyChunk) {
    std::span<const std::byte> part = bytes.subspan(at, std::min(copyChunk, bytes.size() - at));
    std::ranges::copy(part, copy.begin() + at);
    releasePages(part);
  }
  return keep(copy);
}

uint32_t PlanConstants::add(DenseElementsAttr value) {
  auto type = cast<ShapedType>(value.getType());
  int64_t count = type.getNumElements();
  if (type.getElementType().isInteger(1)) {
    std::span<std::byte> bytes = reserve(count);
    for (auto [element, byte] : llvm::zip_equal(value.getValues<bool>(), bytes))
      byte = std::byte(element);
    return keep(bytes);
  }
  ArrayRef<char> raw = value.getRawData();
  size_t elementBytes = type.getElementTypeBitWidth() / 8;
  std::span<std::byte> bytes = reserve(count * elementBytes);
  if (!value.isSplat())
    std::memcpy(bytes.data(), raw.data(), bytes.size());
  else
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(bytes.data() + i * elementBytes, raw.data(), elementBytes);
  return keep(bytes);
}

namespace {

/// The constant by which `expr` grows with dimension `dim`; nullopt if it is not linear in it.
std::optional<int64_t> growthAlong(AffineExpr expr, unsigned dim) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  if (isa<AffineDimExpr>(expr))
    return 1;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> lhs = growthAlong(binary.getLHS(), dim), rhs = growthAlong(binary.getRHS(), dim);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *lhs + *rhs;
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && factor ? std::optional(*lhs * factor.getValue()) : std::nullopt;
}

/// Packs block by block of the two innermost packed dimensions: by copies where the map is linear in both, else by
/// element.
class Packer {
public:
  Packer(const Packing &packing, std::span<const std::byte> source, std::span<std::byte> target)
      : packing(packing), source(source), target(target) {}

  Status run();

private:
  struct Row {
    SmallVector<int64_t> base; // source coordinates of its first element
    std::byte *target;
  };
  void copyBlock(ArrayRef<int64_t> corner, std::byte *block) const;
  bool isInside(ArrayRef<int64_t> base) const;
  void copyRow(const Row &row) const;
  void copyElements(SmallVector<int64_t> coordinates, std::byte *row) const;
  template <typename Element> void copyWhole(int64_t start, std::byte *block) const;

  const Packing &packing;
  std::span<const std::byte> source;
  std::span<std::byte> target;
  int64_t rows = 1, columns = 1;       // of a block
  SmallVector<int64_t> down, along;    // growth of each source coordinate per row and column of a block
  SmallVector<int64_t> strides;        // of the source, in elements
  int64_t rowStep = 0, columnStep = 0; // elements of the source per row and column
};

bool Packer::isInside(ArrayRef<int64_t> base) const {
  for (auto [at, size, perRow, perColumn] : llvm::zip_equal(base, packing.sourceShape, down, along)) {
    int64_t far = (rows - 1) * perRow, right = (columns - 1) * perColumn;
    int64_t least = at + std::min<int64_t>(far, 0) + std::min<int64_t>(right, 0),
            most = at + std::max<int64_t>(far, 0) + std::max<int64_t>(right, 0);
    if (least < 0 || most >= size)
      return false;
  }
  return true;
}

/// A block that lies inside of the source.
template <typename Element> void Packer::copyWhole(int64_t start, std::byte *block) const {
  const auto *from = reinterpret_cast<const Element *>(source.data()) + start;
  auto *to = reinterpret_cast<Element *>(block);
  for (int64_t row = 0; row < rows; ++row, from += rowStep, to += columns)
    if (columnStep == 1)
      std::memcpy(to, from, columns * sizeof(Element));
    else
      for (int64_t column = 0; column < columns; ++column)
        to[column] = from[column * columnStep];
}

void Packer::copyRow(const Row &row) const {
  int64_t first = 0, last = columns, start = 0;
  for (auto [base, factor, size, stride] : llvm::zip_equal(row.base, along, packing.sourceShape, strides)) {
    auto outside = [&, base = base, factor = factor, size = size](int64_t j) {
      return base + factor * j < 0 || base + factor * j >= size;
    };
    while (first < last && outside(first))
      ++first;
    while (last > first && outside(last - 1))
      --last;
    start += base * stride;
  }
  uint32_t bytes = packing.elementBytes;
  for (int64_t j = first; j < last; ++j)
    std::memcpy(row.target + j * bytes, source.data() + (start + columnStep * j) * bytes, bytes);
}

/// `corner` has the packed coordinates of the block's first element.
void Packer::copyBlock(ArrayRef<int64_t> corner, std::byte *block) const {
  Row row{{}, block};
  for (AffineExpr expr : packing.map.getResults())
    row.base.push_back(graph::evaluate(expr, corner, {}));
  uint32_t bytes = packing.elementBytes;
  if (isInside(row.base)) {
    int64_t start = 0;
    for (auto [base, stride] : llvm::zip_equal(row.base, strides))
      start += base * stride;
    switch (bytes) {
    case 1:
      return copyWhole<uint8_t>(start, block);
    case 2:
      return copyWhole<uint16_t>(start, block);
    case 4:
      return copyWhole<uint32_t>(start, block);
    case 8:
      return copyWhole<uint64_t>(start, block);
    default:
      break;
    }
  }
  for (int64_t i = 0; i < rows; ++i, row.target += columns * bytes) {
    copyRow(row);
    for (auto [base, step] : llvm::zip_equal(row.base, down))
      base += step;
  }
}

/// Copies one packed row element by element, for maps that are not linear along it: the four k of a packed row of bytes
/// may cross from one row of a window to the next.
void Packer::copyElements(SmallVector<int64_t> coordinates, std::byte *row) const {
  for (int64_t j = 0; j < packing.packedShape.back(); ++j, row += packing.elementBytes) {
    coordinates.back() = j;
    int64_t place = 0;
    bool inside = true;
    for (auto [expr, size, stride] : llvm::zip_equal(packing.map.getResults(), packing.sourceShape, strides)) {
      int64_t at = graph::evaluate(expr, coordinates, {});
      inside &= at >= 0 && at < size;
      place += at * stride;
    }
    if (inside)
      std::memcpy(row, source.data() + place * packing.elementBytes, packing.elementBytes);
  }
}

Status Packer::run() {
  size_t rank = packing.packedShape.size();
  int64_t stride = 1;
  for (int64_t size : llvm::reverse(packing.sourceShape)) {
    strides.insert(strides.begin(), stride);
    stride *= size;
  }
  if (static_cast<size_t>(stride) * packing.elementBytes != source.size())
    return Status(Code::Internal, "a packed constant's source has " + std::to_string(source.size()) +
                                      " bytes, expected " + std::to_string(stride * packing.elementBytes));
  bool linear = true, linearDown = rank > 1;
  for (auto [expr, stride] : llvm::zip_equal(packing.map.getResults(), strides)) {
    std::optional<int64_t> right = growthAlong(expr, rank - 1), below = growthAlong(expr, rank > 1 ? rank - 2 : 0);
    linear &= right.has_value();
    linearDown &= below.has_value();
    along.push_back(right.value_or(0));
    down.push_back(below.value_or(0));
    rowStep += down.back() * stride;
    columnStep += along.back() * stride;
  }
  columns = packing.packedShape.back();
  rows = linear && linearDown ? packing.packedShape[rank - 2] : 1;
  size_t inner = rows > 1 ? 2 : 1;           // dimensions of a block
  SmallVector<int64_t> coordinates(rank, 0); // of the block's corner: the inner ones are 0
  size_t blockBytes = rows * columns * packing.elementBytes;
  for (size_t offset = 0; offset < target.size(); offset += blockBytes) {
    if (linear)
      copyBlock(coordinates, target.data() + offset);
    else
      copyElements(coordinates, target.data() + offset);
    for (size_t i = rank - inner; i-- > 0;) {
      if (++coordinates[i] < packing.packedShape[i])
        break;
      coordinates[i] = 0;
    }
  }
  return Status();
}

} // namespace

Expected<uint32_t> PlanConstants::addPacked(const std::string &key, std::span<const std::byte> source,
                                            const Packing &packing) {
  std::string id;
  llvm::raw_string_ostream(id) << key << AffineMapAttr::get(packing.map)
                               << llvm::interleaved_array(packing.packedShape);
  if (auto it = packed.find(id); it != packed.end())
    return it->second;
  int64_t count = 1;
  for (int64_t size : packing.packedShape)
    count *= size;
  std::span<std::byte> bytes = reserve(count * packing.elementBytes);
  std::ranges::fill(bytes, std::byte(0)); // elements beyond the source
  if (Status status = Packer(packing, source, bytes).run(); !status)
    return status;
  releasePages(source);
  return packed[id] = keep(bytes);
}

} // namespace tilewright
