// SPDX-License-Identifier: Apache-2.0
// The elements of a window as pixels of an image, for the mode in which the copy engine walks pixels (PTX ISA, "Im2col
// mode").
//
//   tile.load %x[%ky, %m, %k] map (d0, d1, d2) -> (d1 floordiv 196, d0 + (d1 floordiv 14) mod 14 - 1,
//                                                  d2 + (d1 mod 14) * 256 - 256) guard [1, 2]   of (16, 14, 3584)
//
//   the image        16 x 14 x 14 x 256, fastest dimension last: the last coordinate is x * 256 + channel
//   rows of a tile   pixels in turn: x from -1 in 14 steps of 1, then y likewise, then the image
//   added to both    d2 floordiv 256 and d0: the place in the window; the channel is d2 mod 256
//
// What lies outside of the image is copied as zeros, as the load's guard and fill ask for.
//
// There are two more forms:
//  - Channels may have two coordinates, a group and a channel in it, which follow each other in memory.
//  - A row of a window may be one run of elements that is longer than the distance from pixel to pixel
//    (fusion/windows/FewChannels.h). Such runs overlap, and a line of the image has as many pixels as it holds runs.
#include "tilegen/place/roles/BulkAccess.h"

#include "tilegen/index/IndexAlgebra.h"
#include "tilegen/place/Place.h"

#include <numeric>

using namespace mlir;

namespace tilewright::tile {
namespace {

/// The part of a coordinate that depends on the tile's row: ((row floordiv over) mod size) * scale. A size of 0 stands
/// for no mod.
struct RowDigit {
  int64_t over = 1, size = 0, scale = 1;
};

/// A coordinate of the buffer as the sum of a digit of the tile's row, of `rest` and of `constant`.
struct Coordinate {
  std::optional<RowDigit> digit;
  AffineExpr rest; // of other dimensions of the tile
  int64_t constant = 0;
};

class PixelAnalysis {
public:
  PixelAnalysis(const Access &access, unsigned fast)
      : access_(access), fast_(fast), context_(access.op->getContext()), zero_(getAffineConstantExpr(0, context_)) {}

  std::optional<BulkAccess> run();

private:
  bool findRow();
  std::optional<RowDigit> digitOf(AffineExpr expr) const;
  std::optional<Coordinate> split(AffineExpr expr) const;
  std::optional<int64_t> sizeOf(unsigned coordinate) const { return sizes_[coordinate]; }
  bool mergeGroups();
  Facts factsAtStart(AffineExpr expr) const;
  bool splitAll();
  bool findExtents();
  bool findChannels();
  bool addSpatial(unsigned coordinate, int64_t count, int64_t by, int64_t stride);

  const Access &access_;
  unsigned fast_, row_ = 0;
  MLIRContext *context_;
  AffineExpr zero_;
  SmallVector<Coordinate> coordinates_;
  SmallVector<std::optional<int64_t>> sizes_; // of the buffer along each coordinate; nullopt: not a constant
  bool isMerged_ = false;                     // the last coordinate is x * channels + channel
  bool areRuns_ = false;                      // it is merged, and rows of windows are runs that overlap
  unsigned x_ = 0, y_ = 0;                    // numbers of the buffer's coordinates
  int64_t across_ = 0, down_ = 0;             // pixels that rows of the tile visit, along x and y
  // Elements from a pixel to the next; elements of a pixel, or of a run; those of them that one tile takes.
  int64_t pitch_ = 0, channels_ = 0, elements_ = 0;
  BulkAccess result_;
  PixelBox pixels_;
};

/// The one dimension of the tile besides `fast` that has more than one element.
bool PixelAnalysis::findRow() {
  bool found = false;
  for (int64_t d = 0; d < access_.tile.getRank(); ++d)
    if (d != fast_ && access_.tile.getDimSize(d) > 1) {
      if (found)
        return false;
      row_ = d, found = true;
    }
  return found;
}

std::optional<RowDigit> PixelAnalysis::digitOf(AffineExpr expr) const {
  if (expr == getAffineDimExpr(row_, context_))
    return RowDigit();
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto by = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
  std::optional<RowDigit> digit = by ? digitOf(binary.getLHS()) : std::nullopt;
  if (!digit || by.getValue() <= 0)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Mul) {
    digit->scale *= by.getValue();
    return digit;
  }
  if (digit->scale != 1)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Mod && digit->size == 0) {
    digit->size = by.getValue();
    return digit;
  }
  if (binary.getKind() != AffineExprKind::FloorDiv || digit->size % by.getValue())
    return std::nullopt;
  digit->over *= by.getValue(), digit->size /= by.getValue();
  return digit;
}

std::optional<Coordinate> PixelAnalysis::split(AffineExpr expr) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Coordinate{{}, zero_, constant.getValue()};
  if (expr.getKind() == AffineExprKind::Add) {
    auto sum = cast<AffineBinaryOpExpr>(expr);
    std::optional<Coordinate> left = split(sum.getLHS()), right = split(sum.getRHS());
    if (!left || !right || (left->digit && right->digit))
      return std::nullopt;
    return Coordinate{left->digit ? left->digit : right->digit, left->rest + right->rest,
                      left->constant + right->constant};
  }
  if (!tilegen::dependsOn(expr, row_))
    return Coordinate{{}, expr, 0};
  std::optional<RowDigit> digit = digitOf(expr);
  return digit ? std::optional(Coordinate{digit, zero_, 0}) : std::nullopt;
}

/// Makes one coordinate of the last two if they are a group and a channel in it, which follow each other in memory.
/// False where their sizes are not constants.
bool PixelAnalysis::mergeGroups() {
  Coordinate &group = coordinates_[coordinates_.size() - 2], &channel = coordinates_.back();
  if (coordinates_.size() < 4 || group.digit || channel.digit)
    return true;
  std::optional<int64_t> groups = sizes_[sizes_.size() - 2], channels = sizes_.back();
  if (!groups || !channels)
    return false;
  group.rest = group.rest * *channels + channel.rest, group.constant = group.constant * *channels + channel.constant;
  coordinates_.pop_back(), sizes_.pop_back();
  sizes_.back() = *groups * *channels;
  return true;
}

/// Facts about an expression for the tile's first element.
Facts PixelAnalysis::factsAtStart(AffineExpr expr) const {
  SmallVector<Facts> dims(llvm::map_range(access_.offsets, [](Value offset) { return factsOf(offset); }));
  return index::factsOf(expr, dims, symbolFacts(access_.op->getParentOfType<KernelOp>()));
}

bool PixelAnalysis::splitAll() {
  for (AffineExpr expr : access_.map.getResults()) {
    std::optional<Coordinate> coordinate = split(expr);
    if (!coordinate)
      return false;
    auto size = dyn_cast<AffineConstantExpr>(access_.buffer.getType().getSizes().getResult(coordinates_.size()));
    coordinates_.push_back(*coordinate);
    sizes_.push_back(size ? std::optional(size.getValue()) : std::nullopt);
  }
  if (!mergeGroups())
    return false;
  isMerged_ = coordinates_.back().digit.has_value();
  size_t images = coordinates_.size() - (isMerged_ ? 2 : 3); // coordinates in front of y
  if (images > 1)
    return false;
  y_ = images, x_ = y_ + 1;
  return true;
}

/// Checks that the digits of a tile's row are x, then y, then the image, and finds how many pixels x and y visit.
bool PixelAnalysis::findExtents() {
  const std::optional<RowDigit> &x = coordinates_[x_].digit, &y = coordinates_[y_].digit;
  if (!x || !y || x->over != 1 || x->size == 0 || y->over != x->size)
    return false;
  across_ = x->size, down_ = y->size;
  bool hasImages = y_ == 1 && coordinates_[0].digit;
  if (hasImages) {
    const Coordinate &image = coordinates_[0];
    return down_ > 0 && image.digit->over == across_ * down_ && image.digit->size == 0 && image.digit->scale == 1 &&
           image.rest == zero_ && image.constant == 0;
  }
  auto rows = dyn_cast<AffineConstantExpr>(access_.bounds.getResult(row_));
  if (y_ == 1 && tilegen::dependsOn(coordinates_[0].rest, fast_))
    return false;
  if (down_ > 0 || !rows || rows.getValue() % across_)
    return false;
  down_ = rows.getValue() / across_;
  return true;
}

/// Finds the channels of a pixel. A tile must take whole parts of them, so that no step of k reaches beyond a pixel.
bool PixelAnalysis::findChannels() {
  const Coordinate &last = coordinates_.back();
  std::optional<int64_t> size = sizeOf(coordinates_.size() - 1);
  auto depth = dyn_cast<AffineConstantExpr>(access_.bounds.getResult(fast_));
  AffineExpr fast = getAffineDimExpr(fast_, context_), others = last.rest - fast;
  elements_ = access_.tile.getDimSize(fast_);
  if (!size || !depth || depth.getValue() % elements_ ||
      tilegen::dependsOn(simplifyAffineExpr(others, access_.map.getNumDims(), access_.map.getNumSymbols()), fast_))
    return false;
  pitch_ = isMerged_ ? std::gcd(std::gcd(last.digit->scale, last.constant), *size) : *size;
  areRuns_ = isMerged_ && last.rest == fast && last.constant == 0 && depth.getValue() > pitch_;
  channels_ = areRuns_ ? depth.getValue() : pitch_;
  AffineExpr start = last.rest + (isMerged_ ? 0 : last.constant);
  if (channels_ % elements_ || channels_ > *size || factsAtStart(start).divisor % elements_)
    return false;
  result_.sizes = {getAffineConstantExpr(channels_, context_)};
  result_.strides = {getAffineConstantExpr(1, context_)};
  result_.coordinates = {isMerged_ && !areRuns_ ? start % channels_ : start};
  return true;
}

/// Adds x or y to the tensor: a coordinate along which rows visit `count` pixels. Neighbouring pixels are `stride`
/// elements apart in memory, and `by` apart in the coordinate.
bool PixelAnalysis::addSpatial(unsigned coordinate, int64_t count, int64_t by, int64_t stride) {
  constexpr int64_t mostCorner = 127, mostOffset = 255, mostStep = 8; // CUDA Driver API, "cuTensorMapEncodeIm2col"
  const Coordinate &from = coordinates_[coordinate];
  std::optional<int64_t> size = sizeOf(coordinate);
  bool differsInTile = by == 1 && tilegen::dependsOn(from.rest, fast_); // else it is the same in a pixel's channels
  if (!size || from.digit->scale % by || from.constant % by || differsInTile)
    return false;
  bool isRun = coordinate == x_ && areRuns_;
  int64_t step = from.digit->scale / by, lower = from.constant / by,
          pixels = isRun ? (*size - channels_) / by + 1 : *size / by, upper = lower + (count - 1) * step + 1 - pixels;
  AffineExpr offset = isRun     ? zero_
                      : by == 1 ? from.rest
                                : from.rest.floorDiv(by),
             row = getAffineDimExpr(row_, context_);
  if (std::max(std::abs(lower), std::abs(upper)) > mostCorner || step > mostStep ||
      !factsAtStart(offset).within(0, mostOffset))
    return false;
  AffineExpr digit = row.floorDiv(from.digit->over);
  result_.coordinates.push_back((from.digit->size ? digit % from.digit->size : digit) * step + lower);
  result_.strides.push_back(getAffineConstantExpr(stride, context_));
  result_.sizes.push_back(getAffineConstantExpr(pixels, context_));
  pixels_.lower.push_back(lower), pixels_.upper.push_back(upper), pixels_.steps.push_back(step);
  pixels_.offsets.push_back(offset);
  return true;
}

std::optional<BulkAccess> PixelAnalysis::run() {
  constexpr int64_t alignmentBytes = 16;
  int64_t bytes = access_.tile.getElementTypeBitWidth() / 8, row = tensorMapRowBytes / bytes;
  if (access_.map.getNumResults() < 2 || !findRow() || access_.tile.getDimSize(row_) > maxTensorMapBox ||
      access_.tile.getDimSize(fast_) % row || !splitAll() || !findExtents() || !findChannels() ||
      pitch_ * bytes % alignmentBytes || !addSpatial(x_, across_, isMerged_ ? pitch_ : 1, pitch_))
    return std::nullopt;
  int64_t line = *sizeOf(x_) * (isMerged_ ? 1 : pitch_);
  if (!addSpatial(y_, down_, 1, line))
    return std::nullopt;
  bool hasImages = y_ == 1;
  result_.start = zero_;
  result_.strides.push_back(getAffineConstantExpr(line * *sizeOf(y_), context_));
  result_.sizes.push_back(hasImages ? access_.buffer.getType().getSizes().getResult(0)
                                    : getAffineConstantExpr(1, context_));
  result_.coordinates.push_back(hasImages ? access_.map.getResult(0) : zero_);
  result_.box = {row, access_.tile.getDimSize(row_), 1, 1};
  result_.pixels = std::move(pixels_);
  return result_;
}

} // namespace

std::optional<BulkAccess> pixelAccess(const Access &load, unsigned fast) { return PixelAnalysis(load, fast).run(); }

} // namespace tilewright::tile
