// SPDX-License-Identifier: Apache-2.0
// Convolutions whose windows the copy engine brings as pixels of images: channels last, in blocks whose copies have
// warps of their own. The loops are those of a window's rows, then of its columns and channels, as one where
// neighbouring columns are neighbours in memory. Windows of volumes have rows in several planes; where they have one
// element in each plane, the pixels of all planes are those of one long row.
#include "tests/device/Cases.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilewright::test {

namespace {
struct PixelWindow {
  DType type;
  int64_t images, height, width, channels, filters, kernel, stride = 1, pad = 1, dilation = 1;
  int64_t bm = 64, bn = 64, warps = 4, stages = 3, groups = 1, parts = 1;
  int64_t planes = 0, kernelPlanes = 1; // of a volume and of its windows; 0: an image
  bool rounded = false;                 // singles by one product of tf32; filters then run along the sum
  int64_t bytesOfStep = 128;            // of a pixel's channels
  int64_t morePad = 0;                  // at the ends of lines and columns, beside `pad`

  int64_t across(int64_t size, int64_t taps, int64_t edge) const {
    return (size + 2 * edge + morePad - dilation * (taps - 1) - 1) / stride + 1;
  }
  int64_t across(int64_t size) const { return across(size, kernel, pad); }
  /// Only planes are padded where windows are one row high.
  int64_t padPlanes() const { return kernelPlanes == 1 ? 0 : kernel == 1 ? kernelPlanes / 2 : pad; }
  int64_t outPlanes() const { return planes ? across(planes, kernelPlanes, padPlanes()) : 1; }
  int64_t outHeight() const { return across(height); }
  int64_t outWidth() const { return across(width); }
  int64_t pixelsOfImage() const { return outPlanes() * outHeight() * outWidth(); }
  int64_t pixels() const { return images * pixelsOfImage(); }
  int64_t taps() const { return kernelPlanes * kernel * kernel; }
  bool isMerged() const { return dilation == 1 && kernel > 1; }
  /// Are all planes one row of pixels?
  bool isRow() const { return planes && kernel == 1 && stride == 1; }
  int64_t step() const { return bytesOfStep / (type == DType::F32 ? 4 : 2); }
};
} // namespace

/// The digit of a pixel's number that counts `size` times `within` pixels.
static std::string digit(int64_t within, int64_t size, bool isFirst) {
  return isFirst ? fmt::format("(d1 floordiv {})", within) : fmt::format("((d1 floordiv {}) mod {})", within, size);
}

/// d0 is the row of the window, or counts its elements; d1 the pixel; d2 the channel, or column * channels + channel.
static std::string mapOfImage(const PixelWindow &w) {
  std::string image = w.images > 1 ? fmt::format("d1 floordiv {}, ", w.pixelsOfImage()) : "",
              ky = w.isMerged() ? "d0" : fmt::format("(d0 floordiv {})", w.kernel);
  int64_t plane = w.outHeight() * w.outWidth();
  if (w.isRow())
    return fmt::format("{}d0 * {} + {} - {}, d2", image, w.dilation * plane, digit(1, w.pixelsOfImage(), w.images == 1),
                       w.padPlanes() * plane);
  if (w.planes) {
    image += fmt::format("({} floordiv {}) * {} + {} * {} - {}, ", ky, w.kernel, w.dilation,
                         digit(plane, w.outPlanes(), w.images == 1), w.stride, w.padPlanes());
    ky = fmt::format("({} mod {})", ky, w.kernel);
  }
  std::string row = digit(w.outWidth(), w.outHeight(), w.images == 1 && !w.planes),
              y = fmt::format("{} * {} + {} * {} - {}", ky, w.dilation, row, w.stride, w.pad);
  if (w.isMerged())
    return fmt::format("{}{}, d2 + (d1 mod {}) * {} - {}", image, y, w.outWidth(), w.stride * w.channels,
                       w.pad * w.channels);
  return fmt::format("{}{}, (d0 mod {}) * {} + (d1 mod {}) * {} - {}, d2", image, y, w.kernel, w.dilation, w.outWidth(),
                     w.stride, w.pad);
}

/// The widths of the tile's strips, each with sums of its own: powers of two, from wide to narrow.
static std::vector<int64_t> stripsOf(const PixelWindow &w) {
  std::vector<int64_t> widths;
  for (int64_t rest = w.bn; rest > 0; rest -= widths.back())
    widths.push_back(int64_t(std::bit_floor(uint64_t(rest))));
  return widths;
}

/// `one` of each strip; `{i}` is the strip's number, `{start}` its first column, `{width}` how many it has.
static std::string ofStrips(const PixelWindow &w, const char *between, const std::string &one) {
  std::vector<std::string> all;
  int64_t start = 0;
  for (int64_t width : stripsOf(w)) {
    all.push_back(fmt::format(fmt::runtime(one), fmt::arg("i", all.size()), fmt::arg("start", start),
                              fmt::arg("width", width), fmt::arg("bm", w.bm), fmt::arg("bk", w.step()),
                              fmt::arg("text", typeText(w.type))));
    start += width;
  }
  return fmt::format("{}", fmt::join(all, between));
}

namespace {
/// The parts of a kernel's text that name each strip.
struct StripTexts {
  std::string many, sums, outer, within, products, inner, constants, body, stores;
};
} // namespace

static StripTexts textsOfStrips(const PixelWindow &w, int64_t taps, int64_t depth, const std::string &ta,
                                const std::string &filter, const std::string &y) {
  std::string tb = "tensor<1x{bk}x{width}x{text}>", tc = "tensor<1x{bm}x{width}xf32>";
  size_t strips = stripsOf(w).size();
  std::string from = strips > 1 ? "#{i}" : "",
              load = fmt::format(
                  "          %b{{i}} = tile.load %f[%t, %k, %n{{i}}] bounds () -> ({}, {}, {}) map (d0, d1, "
                  "d2) -> ({}) : {} -> {}\n",
                  taps, depth, w.filters, w.rounded ? "d2, d0, d1" : "d0, d1, d2", filter, tb),
              dot = fmt::format("          %d{{i}} = tile.dot %a, %b{{i}}, %s{{i}} : {}, {}, {}", ta, tb, tc),
              store = fmt::format("      tile.store %acc{}, %y[%c0, %m, %n{{i}}] bounds () -> (1, {}, {}) map (d0, d1, "
                                  "d2) -> (d1, d2) : {} -> {}",
                                  from, w.pixels(), w.filters, tc, y);
  return {.many = strips > 1 ? fmt::format(":{}", strips) : "",
          .sums = ofStrips(w, ", ", tc),
          .outer = ofStrips(w, ", ", "%o{i} = %zero{i}"),
          .within = ofStrips(w, ", ", "%s{i} = %o{i}"),
          .products = ofStrips(w, ", ", "%d{i}"),
          .inner = ofStrips(w, ", ", "%inner" + from),
          .constants = ofStrips(w, "\n",
                                "      %zero{i} = arith.constant dense<0.0> : " + tc +
                                    "\n      %start{i} = arith.constant {start} : index"
                                    "\n      %n{i} = arith.addi %n, %start{i} : index"),
          .body = ofStrips(w, "\n", load + dot),
          .stores = ofStrips(w, "\n", store)};
}

/// The sizes of the image in memory, and the numbers of those that its windows may leave.
static std::pair<std::vector<int64_t>, std::vector<int64_t>> sizesAndGuards(const PixelWindow &w) {
  std::vector<int64_t> sizes, guards;
  if (w.images > 1)
    sizes.push_back(w.images);
  auto addSpatial = [&](int64_t size) { guards.push_back(int64_t(sizes.size())), sizes.push_back(size); };
  if (w.isRow()) {
    addSpatial(w.planes * w.height * w.width);
  } else {
    if (w.planes)
      addSpatial(w.planes);
    addSpatial(w.height);
    addSpatial(w.width * (w.isMerged() ? w.channels : 1));
  }
  if (!w.isMerged())
    sizes.push_back(w.channels);
  return {sizes, guards};
}

static std::string kernelText(const PixelWindow &w, int64_t gridX, int64_t gridY) {
  std::string text = typeText(w.type);
  int64_t depth = (w.isMerged() ? w.kernel : 1) * w.channels, taps = w.taps() * w.channels / depth;
  auto [sizes, guards] = sizesAndGuards(w);
  std::string x = fmt::format("!tile.buffer<{}, () -> ({})>", text, fmt::join(sizes, ", ")),
              filter = w.rounded ? fmt::format("!tile.buffer<f32, () -> ({}, {}, {})>", w.filters, taps, depth)
                                 : fmt::format("!tile.buffer<{}, () -> ({}, {}, {})>", text, taps, depth, w.filters),
              y = fmt::format("!tile.buffer<f32, () -> ({}, {})>", w.pixels(), w.filters),
              ta = fmt::format("tensor<1x{}x{}x{}>", w.bm, w.step(), text);
  StripTexts strips = textsOfStrips(w, taps, depth, ta, filter, y);
  std::string kernel = fmt::format(
      R"(
    tile.kernel @k(%x: {x}, %f: {filter}, %y: {y})
        attributes {{grid = affine_map<() -> ({grid}, 1, 1)>,
                     schedule = #tile.schedule<matmul, tile = [{bm}, {bn}], reduce = [1, {bk}], warps = {warps}, stages = {stages}, groups = {groups}, parts = {parts}>}} {{
      %p = tile.program_id 0
      %n = tile.size (d0) -> ((d0 mod {gridX}) * {bn})(%p)
      %m = tile.size (d0) -> ((d0 floordiv {gridX}) * {bm})(%p)
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %taps = arith.constant {taps} : index
      %depth = arith.constant {depth} : index
      %step = arith.constant {bk} : index
{constants}
      %acc{many} = scf.for %t = %c0 to %taps step %c1 iter_args({outer}) -> ({sums}) {{
        %inner{many} = scf.for %k = %c0 to %depth step %step iter_args({within}) -> ({sums}) {{
          %a = tile.load %x[%t, %m, %k] bounds () -> ({taps}, {pixels}, {depth}) map (d0, d1, d2) -> ({mapOfImage}) guard [{guards}] fill 0.0 : {text} : {x} -> {ta}
{body}
          scf.yield {products} : {sums}
        }}
        scf.yield {inner} : {sums}
      }}
{stores}
      tile.return
    }})",
      fmt::arg("x", x), fmt::arg("filter", filter), fmt::arg("y", y), fmt::arg("grid", gridX * gridY),
      fmt::arg("gridX", gridX), fmt::arg("bm", w.bm), fmt::arg("bn", w.bn), fmt::arg("bk", w.step()),
      fmt::arg("warps", w.warps), fmt::arg("stages", w.stages), fmt::arg("groups", w.groups),
      fmt::arg("parts", w.parts), fmt::arg("taps", taps), fmt::arg("depth", depth), fmt::arg("sums", strips.sums),
      fmt::arg("many", strips.many), fmt::arg("mapOfImage", mapOfImage(w)), fmt::arg("guards", fmt::join(guards, ", ")),
      fmt::arg("text", text), fmt::arg("ta", ta), fmt::arg("pixels", w.pixels()), fmt::arg("outer", strips.outer),
      fmt::arg("within", strips.within), fmt::arg("products", strips.products), fmt::arg("inner", strips.inner),
      fmt::arg("constants", strips.constants), fmt::arg("body", strips.body), fmt::arg("stores", strips.stores));
  return w.rounded ? "module attributes {tile.matmul_precision = \"tf32\"} {" + kernel + "}" : kernel;
}

static DeviceCase pixels(const PixelWindow &w, std::string edge) {
  std::string volume = w.planes ? fmt::format("{}x", w.planes) : "",
              kernelPlanes = w.planes ? fmt::format("{}x", w.kernelPlanes) : "";
  DeviceCase c{.name = fmt::format("pixels_{}_n{}_{}{}x{}x{}_f{}_k{}{}s{}p{}{}d{}_{}x{}_groups{}{}{}", typeText(w.type),
                                   w.images, volume, w.height, w.width, w.channels, w.filters, kernelPlanes, w.kernel,
                                   w.stride, w.pad, w.morePad ? fmt::format("to{}", w.pad + w.morePad) : "", w.dilation,
                                   w.bm, w.bn, w.groups, w.parts > 1 ? fmt::format("_parts{}", w.parts) : "",
                                   w.rounded             ? "_tf32"
                                   : w.bytesOfStep < 128 ? fmt::format("_by{}", w.step())
                                                         : ""),
               .family = "pixels",
               .layout = w.planes ? "NDHWC" : "NHWC",
               .edge = std::move(edge),
               .type = w.type,
               .roundsTf32 = w.rounded};
  int64_t gridX = (w.filters + w.bn - 1) / w.bn, gridY = (w.pixels() + w.bm - 1) / w.bm;
  c.grid = {gridX * gridY, 1, 1};
  c.kernel = kernelText(w, gridX, gridY);
  int64_t depth = w.taps() * w.channels, planes = std::max<int64_t>(w.planes, 1);
  c.buffers = {{w.type, w.images * planes * w.height * w.width * w.channels},
               {w.type, depth * w.filters},
               {DType::F32, w.pixels() * w.filters}};
  c.expected = [w, depth, planes, specs = c.buffers](int64_t index) {
    int64_t f = index % w.filters, pixel = index / w.filters, ox = pixel % w.outWidth(),
            oy = pixel / w.outWidth() % w.outHeight(), oz = pixel / w.outWidth() / w.outHeight() % w.outPlanes(),
            image = pixel / w.pixelsOfImage();
    auto read = [&](size_t buffer, int64_t at) {
      double value = inputValue(specs[buffer], buffer, at);
      return w.rounded ? roundedToTf32(value) : value;
    };
    double total = 0;
    for (int64_t tap = 0; tap < w.taps(); ++tap) {
      int64_t kx = tap % w.kernel, ky = tap / w.kernel % w.kernel, kz = tap / w.kernel / w.kernel;
      int64_t z = oz * w.stride + kz * w.dilation - w.padPlanes(), y = oy * w.stride + ky * w.dilation - w.pad,
              x = ox * w.stride + kx * w.dilation - w.pad;
      if (z < 0 || z >= planes || y < 0 || y >= w.height || x < 0 || x >= w.width)
        continue;
      for (int64_t channel = 0; channel < w.channels; ++channel) {
        int64_t k = tap * w.channels + channel;
        total += read(0, (((image * planes + z) * w.height + y) * w.width + x) * w.channels + channel) *
                 read(1, w.rounded ? f * depth + k : k * w.filters + f);
      }
    }
    return total;
  };
  // Matrix units cut off the last bit of each partial sum, and sums are up to about 2.
  c.tolerance = 0x1p-20 * std::sqrt(double(depth)) + 0x1p-23 * double(depth);
  c.small = w.pixels() * w.filters * depth < (1 << 24);
  return c;
}

namespace {
/// A convolution of images each of which has a filter of its own: no tile has pixels of two images.
struct OwnFilters {
  DType type;
  int64_t images, height, width, channels, filters, kernel = 3, bm = 64, bn = 64, warps = 4, stages = 3, groups = 1,
                                                    parts = 1;
  bool areColumnsLast = false; // in a filter [k, k * channels, filters]; else [filters, k, k * channels]

  int64_t pixels() const { return height * width; }
  int64_t line() const { return kernel * channels; } // elements of a window's row
  int64_t tilesAcross() const { return (filters + bn - 1) / bn; }
  int64_t tilesDown() const { return (pixels() + bm - 1) / bm; }
};
} // namespace

/// d0 is the image, d1 the row of the window, d2 the pixel, d3 counts the elements of the window's row, or the filters.
static std::string kernelText(const OwnFilters &o) {
  std::string text = typeText(o.type),
              filter = o.areColumnsLast ? fmt::format("{}, {}, {}", o.kernel, o.line(), o.filters)
                                        : fmt::format("{}, {}, {}", o.filters, o.kernel, o.line()),
              x = fmt::format("!tile.buffer<{}, () -> ({}, {}, {})>", text, o.images, o.height, o.width * o.channels),
              f = fmt::format("!tile.buffer<{}, () -> ({}, {})>", text, o.images, filter),
              y = fmt::format("!tile.buffer<f32, () -> ({}, {}, {})>", o.images, o.pixels(), o.filters);
  int64_t step = o.type == DType::F32 ? 32 : 64;
  return fmt::format(
      R"(
    tile.kernel @k(%x: {x}, %f: {f}, %y: {y})
        attributes {{grid = affine_map<() -> ({grid}, 1, 1)>,
                     schedule = #tile.schedule<matmul, tile = [1, {bm}, {bn}], reduce = [1, {bk}], warps = {warps}, stages = {stages}, groups = {groups}, parts = {parts}>}} {{
      %p = tile.program_id 0
      %n = tile.size (d0) -> ((d0 mod {across}) * {bn})(%p)
      %m = tile.size (d0) -> (((d0 floordiv {across}) mod {down}) * {bm})(%p)
      %image = tile.size (d0) -> (d0 floordiv {program})(%p)
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %taps = arith.constant {kernel} : index
      %line = arith.constant {line} : index
      %step = arith.constant {bk} : index
      %zero = arith.constant dense<0.0> : tensor<1x1x{bm}x{bn}xf32>
      %acc = scf.for %t = %c0 to %taps step %c1 iter_args(%o = %zero) -> (tensor<1x1x{bm}x{bn}xf32>) {{
        %inner = scf.for %k = %c0 to %line step %step iter_args(%s = %o) -> (tensor<1x1x{bm}x{bn}xf32>) {{
          %a = tile.load %x[%image, %t, %m, %k] bounds () -> ({images}, {kernel}, {pixels}, {line}) map (d0, d1, d2, d3) -> (d0, d1 + d2 floordiv {width} - {pad}, d3 + (d2 mod {width}) * {channels} - {pad} * {channels}) guard [1, 2] fill 0.0 : {text} : {x} -> tensor<1x1x{bm}x{bk}x{text}>
          %b = tile.load %f[%image, %t, %k, %n] bounds () -> ({images}, {kernel}, {line}, {filters}) map (d0, d1, d2, d3) -> ({mapOfFilter}) : {f} -> tensor<1x1x{bk}x{bn}x{text}>
          %d = tile.dot %a, %b, %s : tensor<1x1x{bm}x{bk}x{text}>, tensor<1x1x{bk}x{bn}x{text}>, tensor<1x1x{bm}x{bn}xf32>
          scf.yield %d : tensor<1x1x{bm}x{bn}xf32>
        }}
        scf.yield %inner : tensor<1x1x{bm}x{bn}xf32>
      }}
      tile.store %acc, %y[%image, %c0, %m, %n] bounds () -> ({images}, 1, {pixels}, {filters}) map (d0, d1, d2, d3) -> (d0, d2, d3) : tensor<1x1x{bm}x{bn}xf32> -> {y}
      tile.return
    }})",
      fmt::arg("x", x), fmt::arg("f", f), fmt::arg("y", y), fmt::arg("text", text),
      fmt::arg("grid", o.images * o.tilesAcross() * o.tilesDown()), fmt::arg("across", o.tilesAcross()),
      fmt::arg("down", o.tilesDown()), fmt::arg("program", o.tilesAcross() * o.tilesDown()), fmt::arg("bm", o.bm),
      fmt::arg("bn", o.bn), fmt::arg("bk", step), fmt::arg("warps", o.warps), fmt::arg("stages", o.stages),
      fmt::arg("groups", o.groups), fmt::arg("parts", o.parts), fmt::arg("kernel", o.kernel),
      fmt::arg("line", o.line()), fmt::arg("images", o.images), fmt::arg("pixels", o.pixels()),
      fmt::arg("width", o.width), fmt::arg("pad", o.kernel / 2), fmt::arg("channels", o.channels),
      fmt::arg("filters", o.filters), fmt::arg("mapOfFilter", o.areColumnsLast ? "d0, d1, d2, d3" : "d0, d3, d1, d2"));
}

static DeviceCase ownFilters(const OwnFilters &o, std::string edge) {
  DeviceCase c{.name = fmt::format("pixels_own_{}_n{}_{}x{}x{}_f{}{}_k{}_{}x{}_groups{}{}", typeText(o.type), o.images,
                                   o.height, o.width, o.channels, o.filters, o.areColumnsLast ? "last" : "", o.kernel,
                                   o.bm, o.bn, o.groups, o.parts > 1 ? fmt::format("_parts{}", o.parts) : ""),
               .family = "pixels",
               .layout = "NHWC",
               .edge = std::move(edge),
               .type = o.type};
  c.grid = {o.images * o.tilesAcross() * o.tilesDown(), 1, 1};
  c.kernel = kernelText(o);
  int64_t depth = o.kernel * o.line();
  c.buffers = {{o.type, o.images * o.pixels() * o.channels},
               {o.type, o.images * depth * o.filters},
               {DType::F32, o.images * o.pixels() * o.filters}};
  c.expected = [o, depth, specs = c.buffers](int64_t index) {
    int64_t f = index % o.filters, pixel = index / o.filters % o.pixels(), image = index / o.filters / o.pixels();
    double total = 0;
    for (int64_t k = 0; k < depth; ++k) {
      int64_t channel = k % o.channels, y = pixel / o.width + k / o.line() - o.kernel / 2,
              x = pixel % o.width + k / o.channels % o.kernel - o.kernel / 2;
      if (y < 0 || y >= o.height || x < 0 || x >= o.width)
        continue;
      int64_t weight = image * depth * o.filters + (o.areColumnsLast ? k * o.filters + f : f * depth + k);
      total += inputValue(specs[0], 0, ((image * o.height + y) * o.width + x) * o.channels + channel) *
               inputValue(specs[1], 1, weight);
    }
    return total;
  };
  c.tolerance = 0x1p-20 * std::sqrt(double(depth)) + 0x1p-24 * double(depth);
  c.small = o.images * o.pixels() * o.filters * depth < (1 << 24);
  return c;
}

static void addOwnFilters(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16, DType::F32}) {
    auto add = [&](const OwnFilters &o, const char *edge) { cases.push_back(ownFilters(o, edge)); };
    add({type, 4, 8, 8, 64, 64}, "power of two");
    add({type, 3, 4, 4, 64, 136}, "multiple of 8"); // a quarter of a tile is an image, the rest are its neighbour's
    add({type, 3, 7, 11, 64, 72}, "prime");
    add({type, 2, 7, 7, 128, 64, 3, 64, 64, 4, 4, 1, 3}, "prime");
    if (type != DType::F32) { // whose instructions read only what runs along the sum
      add({type, 3, 5, 13, 64, 72, 3, 64, 64, 4, 3, 1, 1, true}, "prime");
      add({type, 2, 12, 12, 64, 136, 3, 64, 128, 4, 4, 2}, "multiple of 8");
    }
    add({type, 4, 32, 32, 128, 256, 3, 128, 128, 8, 4}, "power of two");
  }
}

/// Channels that are no multiple of 64, which come 32 or 16 at a time, and filters that are no multiple of 64, whose
/// narrow strips have rows of 64 or 32 bytes.
static void addShortRows(std::vector<DeviceCase> &cases) {
  for (DType type : {DType::F16, DType::BF16}) {
    auto add = [&](PixelWindow w, int64_t bytesOfStep, const char *edge) {
      w.bytesOfStep = bytesOfStep;
      cases.push_back(pixels(w, edge));
    };
    add({type, 2, 8, 8, 32, 64, 3}, 64, "multiple of 8");
    add({type, 3, 7, 5, 96, 72, 3, 1, 1, 1, 64, 64, 4, 5}, 64, "prime");
    add({type, 2, 9, 11, 96, 96, 3, 2, 1, 1, 64, 96}, 64, "multiple of 8");
    add({type, 2, 9, 11, 160, 160, 3, 1, 2, 2, 64, 160, 4, 3, 2}, 64, "multiple of 8");
    add({type, 2, 7, 7, 96, 64, 3, 1, 1, 1, 64, 64, 4, 4, 1, 3}, 64, "multiple of 8");
    add({type, 2, 8, 8, 48, 48, 3, 1, 1, 1, 64, 48}, 32, "multiple of 8");
    add({type, 2, 6, 7, 64, 80, 3, 1, 1, 1, 64, 80}, 128, "multiple of 8");
    add({type, 2, 8, 8, 64, 32, 3, 1, 1, 1, 64, 32}, 128, "multiple of 8");
    add({type, 1, 12, 12, 64, 112, 5, 1, 2, 1, 128, 112, 8}, 128, "multiple of 8");
    add({type, 4, 28, 28, 224, 224, 3, 1, 1, 1, 128, 224, 8, 8}, 64, "multiple of 8");
    add({type, 3, 56, 57, 96, 96, 3, 1, 1, 1, 256, 96, 8, 8}, 64, "multiple of 8");
  }
}

void addPixelCases(std::vector<DeviceCase> &cases) {
  addOwnFilters(cases);
  addShortRows(cases);
  for (DType type : {DType::F16, DType::BF16, DType::F32})
    for (bool rounded : {false, true}) {
      if (rounded && type != DType::F32)
        continue;
      auto add = [&](PixelWindow w, const char *edge) {
        w.rounded = rounded;
        cases.push_back(pixels(w, edge));
      };
      add({type, 2, 8, 8, 64, 64, 3}, "power of two");
      add({type, 3, 7, 5, 64, 72, 3}, "prime");
      add({type, 1, 14, 9, 128, 64, 3, 2}, "multiple of 8");
      add({type, 2, 9, 11, 64, 40, 3, 1, 2, 2}, "multiple of 8");
      add({type, 2, 6, 10, 64, 64, 5, 1, 0}, "multiple of 8");
      add({type, 2, 12, 12, 64, 136, 2, 2, 0, 1, 64, 128, 4, 4}, "multiple of 8");
      add({type, 2, 7, 7, 192, 64, 3, 1, 1, 1, 64, 64, 4, 4, 1, 4}, "multiple of 8");
      if (type != DType::F32) { // columns that are two sums
        add({type, 2, 7, 7, 128, 192, 3, 1, 1, 1, 64, 192, 4, 4, 1, 2}, "multiple of 8");
        add({type, 4, 9, 11, 64, 192, 3, 1, 1, 1, 64, 192, 4, 3, 2}, "multiple of 8");
      }
      int64_t few = type == DType::F32 ? 8 : 16; // whose rows of a window are runs that overlap
      add({type, 2, 9, 11, few, 64, 4, 1, 0}, "multiple of 8");
      add({type, 3, 13, 12, few, 72, 4, 2, 0}, "multiple of 8");
      auto addWithMorePad = [&](PixelWindow w, int64_t morePad, const char *edge) {
        w.morePad = morePad;
        add(w, edge);
      };
      addWithMorePad({type, 2, 8, 9, 64, 72, 2, 1, 0}, 1, "multiple of 8"); // of a transposed convolution by 2
      addWithMorePad({type, 2, 8, 12, 64, 64, 3, 2, 0}, 1, "multiple of 8");
      auto addVolume = [&](PixelWindow w, int64_t planes, int64_t kernelPlanes, const char *edge) {
        w.planes = planes, w.kernelPlanes = kernelPlanes;
        add(w, edge);
      };
      addVolume({type, 2, 6, 4, 64, 64, 3}, 4, 3, "multiple of 8");
      addVolume({type, 1, 7, 5, 64, 72, 3, 2}, 5, 3, "prime");
      addVolume({type, 2, 7, 8, 64, 40, 3, 1, 2, 2}, 6, 3, "multiple of 8");
      addVolume({type, 3, 5, 6, 64, 64, 3}, 3, 1, "multiple of 8");
      addVolume({type, 2, 6, 7, 64, 64, 1, 2, 0}, 5, 1, "multiple of 8");
      addVolume({type, 2, 5, 7, 128, 64, 1, 1, 0}, 5, 3, "multiple of 8");
      addVolume({type, 1, 14, 13, 64, 64, 1, 1, 0, 2}, 6, 3, "multiple of 8");
      addVolume({type, 2, 14, 14, 128, 128, 3, 1, 1, 1, 64, 128, 4, 4}, 8, 3, "power of two");
      addVolume({type, 2, 56, 56, 64, 64, 1, 1, 0, 1, 64, 64, 4, 4}, 16, 3, "multiple of 8");
      add({type, 16, 14, 14, 256, 256, 3, 1, 1, 1, 128, 128, 8, 4}, "power of two");
      add({type, 4, 56, 57, 64, 64, 3, 1, 1, 1, 128, 64, type == DType::F32 && !rounded ? 8 : 4, 4}, "multiple of 8");
      if (type != DType::F32 || rounded) {
        add({type, 2, 9, 11, 64, 328, 3, 1, 1, 1, 64, 320, 4, 3, 2}, "multiple of 8");
        add({type, 3, 28, 28, 64, 640, 3, 1, 1, 1, 128, 320, 8, 3}, "multiple of 8");
        add({type, 5, 28, 28, 128, 128, 3, 2, 1, 1, 128, 128, 4, 4, 2}, "multiple of 8");
      }
    }
}

} // namespace tilewright::test
