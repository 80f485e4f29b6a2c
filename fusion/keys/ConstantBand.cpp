// SPDX-License-Identifier: Apache-2.0
// Reads the constant once, row by row.
#include "fusion/keys/ConstantBand.h"

#include "runtime/reference/Half.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fusion;

static constexpr int64_t mostElements = 1 << 26; // of a mask that is worth reading

/// The elements of a constant of booleans or floats as numbers; null for other types.
static std::function<double(int64_t)> reader(std::span<const std::byte> bytes, Type element) {
  auto at = [bytes](int64_t i, auto zero) {
    std::memcpy(&zero, bytes.data() + i * sizeof(zero), sizeof(zero));
    return zero;
  };
  if (element.isInteger(1))
    return [=](int64_t i) { return at(i, uint8_t(0)); };
  if (element.isF16())
    return [=](int64_t i) { return reference::fromHalf(at(i, uint16_t(0))); };
  if (element.isBF16())
    return [=](int64_t i) { return reference::fromBFloat(at(i, uint16_t(0))); };
  if (element.isF32())
    return [=](int64_t i) { return at(i, 0.0f); };
  if (element.isF64())
    return [=](int64_t i) { return at(i, 0.0); };
  return nullptr;
}

std::optional<ConstantBand> fusion::bandOf(Operation *op, llvm::function_ref<bool(double)> admits) {
  auto constant = dyn_cast<graph::ConstantOp>(op);
  if (!constant)
    return std::nullopt;
  auto type = cast<RankedTensorType>(constant.getType());
  SmallVector<unsigned> longer;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (size > 1)
      longer.push_back(dim);
  graph::ConstantBytes bytes = cast<graph::GraphDialect>(op->getDialect())->constants().read(constant.getKey());
  auto read = reader(bytes.bytes, type.getElementType());
  if (longer.size() != 2 || type.getNumElements() > mostElements || !bytes.bytes.data() || !read)
    return std::nullopt;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  int64_t rows = type.getDimSize(longer[0]), columns = type.getDimSize(longer[1]), admitted = 0, inside = 0;
  ConstantBand band{SmallVector<int64_t>(type.getShape()),
                    longer[0],
                    longer[1],
                    columns,
                    -rows,
                    false,
                    -infinity,
                    infinity,
                    infinity,
                    -infinity};
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      double value = read(i * columns + j);
      if (!admits(value)) {
        band.outside = std::isnan(value) ? infinity : std::max(band.outside, value);
        band.leastOutside = std::isnan(value) ? -infinity : std::min(band.leastOutside, value);
        continue;
      }
      ++admitted;
      band.first = std::min(band.first, j - i), band.last = std::max(band.last, j - i);
      band.least = std::min(band.least, value), band.most = std::max(band.most, value);
    }
  for (int64_t i = 0; i < rows; ++i)
    inside += std::max<int64_t>(0, std::min(columns - 1, i + band.last) - std::max<int64_t>(0, i + band.first) + 1);
  band.full = inside == admitted;
  return admitted ? std::optional(band) : std::nullopt;
}

KeyInterval ConstantBand::keysAt(const KeySpace &space, ArrayRef<AffineExpr> at) const {
  AffineExpr diagonal = at[column] - at[row];
  KeyInterval keys;
  if (last < shape[column] - 1)
    keys.intersect(space.whereNonNegative(last - diagonal));
  if (first > 1 - shape[row])
    keys.intersect(space.whereNonNegative(diagonal - first));
  return keys;
}

std::optional<KeyInterval> ConstantBand::surelyAt(const KeySpace &space, ArrayRef<AffineExpr> at) const {
  AffineExpr diagonal = at[column] - at[row];
  std::optional<KeyInterval> keys;
  if (full)
    keys = KeyInterval();
  if (last < shape[column] - 1)
    keys = intersection(keys, space.surelyNonNegative(last - diagonal));
  if (first > 1 - shape[row])
    keys = intersection(keys, space.surelyNonNegative(diagonal - first));
  return keys;
}

bool ConstantBand::admits(const KeySpace &space, ArrayRef<AffineExpr> at) const {
  AffineExpr diagonal = at[column] - at[row];
  return full && space.isNonNegative(last - diagonal) && space.isNonNegative(diagonal - first);
}
