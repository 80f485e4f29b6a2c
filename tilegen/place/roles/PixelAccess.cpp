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
// There may be a third coordinate z in front of y, or x alone. Dimensions along which windows do not move are one with
// others: of windows that move along z alone, x counts the z * y * x pixels of a volume, and taps are y * x apart; and
// where they do not move along z, volumes are z times as many images.
//
// There are two more forms:
//  - Channels may have two coordinates, a group and a channel in it, which follow each other in memory.
//  - A row of a window may be one run of elements that is longer than the distance from pixel to pixel
//    (fusion/windows/FewChannels.h). Such runs overlap, and a line of the image has as many pixels as it holds runs.
//    No run may end beyond its line, because all of it would be copied as zeros.
#include "tilegen/place/roles/BulkAccess.h"

#include "fusion/windows/WalkedPixels.h"
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
  PixelAnalysis(const Access &access, unsigned fast, unsigned spatial, int64_t leastRowBytes)
      : access_(access), fast_(fast), spatial_(spatial), leastRowBytes_(leastRowBytes),
        context_(access.op->getContext()), zero_(getAffineConstantExpr(0, context_)) {}

  std::optional<BulkAccess> run();

private:
  bool findRow();
  std::optional<RowDigit> digitOf(AffineExpr expr) const;
  std::optional<Coordinate> split(AffineExpr expr) const;
  std::optional<int64_t> sizeOf(unsigned coordinate) const { return sizes_[coordinate]; }
  bool mergeGroups();
  bool isOneImage() const;
  Facts factsAtStart(AffineExpr expr) const;
  bool splitAll();
  bool findExtents();
  bool haveRuns(int64_t depth, int64_t size) const;
  bool findChannels();
  bool addSpatial(unsigned coordinate, int64_t count, int64_t by, int64_t stride);

  const Access &access_;
  unsigned fast_, spatial_, row_ = 0;
  int64_t leastRowBytes_;
  MLIRContext *context_;
  AffineExpr zero_;
  SmallVector<Coordinate> coordinates_;
  SmallVector<std::optional<int64_t>> sizes_; // of the buffer along each coordinate; nullopt: not a constant
  bool isMerged_ = false;                     // the last coordinate is x * channels + channel
  bool areRuns_ = false;                      // it is merged, and rows of windows are runs that overlap
  unsigned outermost_ = 0, x_ = 0;            // numbers in `coordinates_`: the first and last spatial one
  unsigned image_ = 0;                        // number of the buffer's coordinate in front of these
  SmallVector<int64_t> counts_;               // pixels that rows of the tile visit, along x and the others
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

/// Is the first coordinate that of the only image? Then the next one may count images as well.
bool PixelAnalysis::isOneImage() const {
  const Coordinate &first = coordinates_.front();
  return !first.digit && first.rest == zero_ && first.constant == 0 && sizes_.front() == 1;
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
  if (isOneImage())
    coordinates_.erase(coordinates_.begin()), sizes_.erase(sizes_.begin()), image_ = 1;
  isMerged_ = coordinates_.back().digit.has_value();
  size_t others = spatial_ + (isMerged_ ? 0 : 1); // coordinates other than the image
  if (coordinates_.size() < others || coordinates_.size() > others + 1)
    return false;
  outermost_ = coordinates_.size() - others, x_ = outermost_ + spatial_ - 1;
  return true;
}

/// Checks that the digits of a tile's row are x, then those in front of it, then the image, and finds how many pixels
/// each visits.
bool PixelAnalysis::findExtents() {
  int64_t within = 1; // pixels that the coordinates so far visit; 0: not known
  for (unsigned i = x_ + 1; i-- > outermost_;) {
    const std::optional<RowDigit> &digit = coordinates_[i].digit;
    if (!digit || within == 0 || digit->over != within)
      return false;
    counts_.push_back(digit->size), within *= digit->size;
  }
  if (outermost_ == 1 && coordinates_[0].digit) {
    const Coordinate &image = coordinates_[0];
    return within > 0 && image.digit->over == within && image.digit->size == 0 && image.digit->scale == 1 &&
           image.rest == zero_ && image.constant == 0;
  }
  auto rows = dyn_cast<AffineConstantExpr>(access_.bounds.getResult(row_));
  if (outermost_ == 1 && tilegen::dependsOn(coordinates_[0].rest, fast_))
    return false;
  int64_t inner = coordinates_[outermost_].digit->over;
  if (within > 0 || !rows || rows.getValue() % inner)
    return false;
  counts_.back() = rows.getValue() / inner;
  return true;
}

/// Are rows of windows runs that overlap, all of which end within their line of `size` elements?
bool PixelAnalysis::haveRuns(int64_t depth, int64_t size) const {
  const Coordinate &x = coordinates_.back();
  return isMerged_ && x.rest == getAffineDimExpr(fast_, context_) && x.constant == 0 && depth > pitch_ &&
         (counts_.front() - 1) * x.digit->scale + depth <= size;
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
  areRuns_ = haveRuns(depth.getValue(), *size);
  channels_ = areRuns_ ? depth.getValue() : pitch_;
  AffineExpr start = last.rest + (isMerged_ ? 0 : last.constant);
  if (channels_ % elements_ || channels_ > *size || factsAtStart(start).divisor % elements_)
    return false;
  result_.sizes = {getAffineConstantExpr(channels_, context_)};
  result_.strides = {getAffineConstantExpr(1, context_)};
  result_.coordinates = {isMerged_ && !areRuns_ ? start % channels_ : start};
  return true;
}

/// Adds x or another one to the tensor: a coordinate along which rows visit `count` pixels. Neighbouring pixels are
/// `stride` elements apart in memory, and `by` apart in the coordinate.
bool PixelAnalysis::addSpatial(unsigned coordinate, int64_t count, int64_t by, int64_t stride) {
  int64_t most = fusion::mostCorner[spatial_ - 1];
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
  if (std::min(lower, upper) < -most || std::max(lower, upper) >= most || step > fusion::mostPixelStep ||
      !factsAtStart(offset).within(0, 2 * most - 1))
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
  int64_t bytes = access_.tile.getElementTypeBitWidth() / 8,
          row = std::min(access_.tile.getDimSize(fast_), tensorMapRowBytes / bytes);
  if (access_.map.getNumResults() < 2 || !findRow() || access_.tile.getDimSize(row_) > maxTensorMapBox ||
      row * bytes < leastRowBytes_ || !splitAll() || !findExtents() || !findChannels() ||
      pitch_ * bytes % alignmentBytes || !addSpatial(x_, counts_.front(), isMerged_ ? pitch_ : 1, pitch_))
    return std::nullopt;
  int64_t stride = *sizeOf(x_) * (isMerged_ ? 1 : pitch_);
  for (unsigned i = x_; i-- > outermost_; stride *= *sizeOf(i))
    if (!addSpatial(i, counts_[x_ - i], 1, stride))
      return std::nullopt;
  bool hasImages = outermost_ == 1;
  result_.start = zero_;
  result_.strides.push_back(getAffineConstantExpr(stride, context_));
  result_.sizes.push_back(hasImages ? access_.buffer.getType().getSizes().getResult(image_)
                                    : getAffineConstantExpr(1, context_));
  result_.coordinates.push_back(hasImages ? access_.map.getResult(image_) : zero_);
  result_.box = {row, access_.tile.getDimSize(row_)};
  result_.box.resize(spatial_ + 2, 1);
  result_.pixels = std::move(pixels_);
  return result_;
}

} // namespace

std::optional<BulkAccess> pixelAccess(const Access &load, unsigned fast, int64_t leastRowBytes) {
  for (unsigned spatial : {2, 3, 1})
    if (std::optional<BulkAccess> found = PixelAnalysis(load, fast, spatial, leastRowBytes).run())
      return found;
  return std::nullopt;
}

} // namespace tilewright::tile
