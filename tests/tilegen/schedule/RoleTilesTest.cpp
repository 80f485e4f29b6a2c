// SPDX-License-Identifier: Apache-2.0
// Products of halves whose tiles with roles were all timed, on an H100 (docs/performance/gpu-products.md, "Tiles of 320
// columns, and what an epilogue costs" and "Products of medium size"): what the estimates choose may not take much
// longer than the best of them.
#include "tilegen/schedule/SelectSchedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <sstream>

using namespace mlir;
using namespace tilewright;

namespace {

enum class Epilogue { Plain, Residual, Tanh, Erf };

/// A product, and the microseconds that each tile took, all in turns in one run: "128x128w4*2" has two groups of four
/// warps, and "64x64w4/2" sums in two parts. Only the rows of 19600 are from two runs, of Inception v3, whose kernels
/// of that shape were averaged. Of a tile that was timed twice in a run, the lesser time is listed. Of rows with parts
/// the 12 fastest are listed, of up to 72 that were timed.
struct Timed {
  int64_t m, n, k;
  Epilogue epilogue;
  const char *times;
};

constexpr Timed timed[] = {
    {4096, 1280, 1280, Epilogue::Plain,
     "128x320w8 24.5, 64x320w4*2 24.3, 128x256w8 33.6, 256x128w8 33.6, 128x192w8 27.3, 128x128w8 26.6, 128x128w4*2 "
     "26.1, 64x192w4*2 29.6"},
    {4096, 5120, 1280, Epilogue::Plain,
     "64x320w4*2 81.1, 128x256w8 81.4, 256x128w8 81.2, 128x192w8 88.2, 128x128w4*2 78.1"},
    {1024, 5120, 5120, Epilogue::Plain,
     "128x320w8 72.4, 64x320w4*2 81.7, 128x256w8 109.3, 256x128w8 109.5, 128x192w8 86.0, 128x128w8 88.0, 128x128w4*2 "
     "89.3, 64x192w4*2 97.7"},
    {2048, 5120, 5120, Epilogue::Plain,
     "128x320w8 151.4, 64x320w4*2 153.5, 128x256w8 165.5, 256x128w8 165.7, 128x192w8 169.4, 128x128w8 148.7, "
     "128x128w4*2 156.1, 64x192w4*2 166.4"},
    {4096, 2560, 2560, Epilogue::Plain,
     "128x320w8 81.7, 64x320w4*2 75.9, 128x256w8 87.9, 256x128w8 88.6, 128x192w8 89.4, 128x128w8 75.1, 128x128w4*2 "
     "76.4, 64x192w4*2 105.7"},
    {16384, 320, 1280, Epilogue::Plain,
     "128x320w8 31.7, 64x320w4*2 34.2, 128x256w8 42.1, 256x128w8 40.6, 128x192w8 33.2, 128x128w8 35.0, 128x128w4*2 "
     "35.6, 64x192w4*2 42.9"},
    {4096, 960, 320, Epilogue::Plain,
     "128x320w8 12.5, 64x320w4*2 11.8, 128x256w8 11.3, 256x128w8 11.1, 128x192w8 13.3, 128x128w8 10.2, 128x128w4*2 "
     "10.4, 64x192w4*2 11.3"},
    {8192, 960, 960, Epilogue::Plain,
     "128x320w8 36.7, 64x320w4*2 28.1, 128x256w8 28.9, 256x128w8 28.7, 128x192w8 31.5, 128x128w8 30.4, 128x128w4*2 "
     "29.9, 64x192w4*2 27.9"},
    {2048, 2048, 2048, Epilogue::Plain,
     "64x320w4*2 34.5, 128x256w8 28.9, 256x128w8 29.1, 128x192w8 38.5, 128x128w4*2 28.4"},
    {4096, 768, 3072, Epilogue::Plain,
     "64x320w4*2 67.2, 128x256w8 37.6, 256x128w8 37.5, 128x192w8 32.6, 128x128w4*2 39.5"},
    {8192, 2048, 2048, Epilogue::Plain,
     "64x320w4*2 132.0, 128x256w8 98.9, 256x128w8 99.6, 128x192w8 111.8, 128x128w4*2 97.4"},
    {2048, 1600, 1600, Epilogue::Residual,
     "128x320w8 32.0, 64x320w4*2 31.4, 128x256w8 28.0, 256x128w8 27.7, 128x192w8 37.7, 128x128w8 30.2, 128x128w4*2 "
     "26.8, 64x192w4*2 35.9"},
    {2048, 1600, 6400, Epilogue::Residual,
     "128x320w8 84.0, 64x320w4*2 94.2, 128x256w8 71.3, 256x128w8 71.1, 128x192w8 108.4, 128x128w8 86.5, 128x128w4*2 "
     "84.8, 64x192w4*2 116.6"},
    {16384, 320, 320, Epilogue::Residual,
     "128x320w8 21.6, 64x320w4*2 19.2, 128x256w8 24.5, 256x128w8 25.1, 128x192w8 23.2, 128x128w8 22.4, 128x128w4*2 "
     "19.9, 64x192w4*2 21.7"},
    {4096, 1280, 1280, Epilogue::Residual,
     "128x320w8 31.3, 64x320w4*2 30.5, 128x256w8 43.0, 256x128w8 43.2, 128x192w8 37.1, 128x128w8 37.2, 128x128w4*2 "
     "32.5, 64x192w4*2 40.6"},
    {4096, 640, 2560, Epilogue::Residual,
     "128x320w8 41.8, 64x320w4*2 33.4, 128x256w8 36.9, 256x128w8 35.7, 128x192w8 34.8, 128x128w8 40.4, 128x128w4*2 "
     "37.8, 64x192w4*2 50.0"},
    {16384, 320, 1280, Epilogue::Residual,
     "128x320w8 38.3, 64x320w4*2 38.7, 128x256w8 49.5, 256x128w8 48.4, 128x192w8 42.4, 128x128w8 43.9, 128x128w4*2 "
     "41.5, 64x192w4*2 51.5"},
    {4096, 1280, 5120, Epilogue::Residual,
     "128x320w8 76.5, 64x320w4*2 80.4, 128x256w8 115.8, 256x128w8 117.4, 128x192w8 94.8, 128x128w8 105.7, 128x128w4*2 "
     "101.4, 64x192w4*2 135.0"},
    {1024, 5120, 5120, Epilogue::Residual,
     "128x320w8 76.6, 64x320w4*2 85.4, 128x256w8 116.6, 128x192w8 94.8, 128x128w4*2 102.2, 128x128w8 106.4"},
    {4096, 5120, 1280, Epilogue::Tanh,
     "128x320w8 91.5, 64x320w4*2 90.7, 128x256w8 87.7, 256x128w8 86.9, 128x192w8 96.1, 128x128w8 92.4, 128x128w4*2 "
     "80.3, 64x192w4*2 92.3"},
    {2048, 6400, 1600, Epilogue::Tanh,
     "128x320w8 85.1, 64x320w4*2 72.4, 128x256w8 82.1, 256x128w8 81.9, 128x192w8 81.7, 128x128w8 75.8, 128x128w4*2 "
     "68.8, 64x192w4*2 85.4"},
    {4096, 3072, 768, Epilogue::Tanh,
     "64x320w4*2 49.6, 128x256w8 38.6, 256x128w8 38.1, 128x192w8 41.1, 128x128w8 40.7, 128x128w4*2 35.8, 64x192w4*2 "
     "37.9"},
    {4096, 4096, 1024, Epilogue::Tanh,
     "64x320w4*2 67.4, 128x256w8 59.1, 256x128w8 58.9, 128x192w8 68.4, 128x128w8 62.4, 128x128w4*2 54.7, 64x192w4*2 "
     "65.1"},
    {2048, 5120, 1280, Epilogue::Tanh,
     "128x320w8 49.6, 64x320w4*2 51.5, 128x256w8 52.9, 256x128w8 52.9, 128x192w8 55.6, 128x128w8 48.0, 128x128w4*2 "
     "44.1, 64x192w4*2 52.1"},
    {512, 3072, 768, Epilogue::Tanh,
     "64x320w4*2 15.4, 128x256w8 16.0, 256x128w8 15.9, 128x192w8 13.8, 128x128w8 11.2, 128x128w4*2 13.0, 64x192w4*2 "
     "11.7"},
    {50176, 288, 96, Epilogue::Plain,
     "64x320w4*2 26.6, 128x256w8 24.8, 256x128w8 23.0, 128x192w8 23.8, 128x128w8 22.6, 128x128w4*2 23.9, 64x192w4*2 "
     "25.9"},
    {50176, 384, 96, Epilogue::Erf,
     "64x320w4*2 74.0, 128x256w8 36.0, 256x128w8 31.9, 128x192w8 32.3, 128x128w8 29.1, 128x128w4*2 41.0, 64x192w4*2 "
     "38.7"},
    {50176, 96, 384, Epilogue::Residual,
     "128x256w8 37.2, 256x128w8 33.0, 128x192w8 30.6, 128x128w8 29.7, 128x128w4*2 30.4, 64x192w4*2 39.3"},
    {12544, 576, 192, Epilogue::Plain,
     "64x320w4*2 15.4, 128x256w8 17.3, 256x128w8 13.8, 128x192w8 15.8, 128x128w8 14.6, 128x128w4*2 13.1, 64x192w4*2 "
     "13.8"},
    {12544, 192, 192, Epilogue::Residual,
     "64x320w4*2 12.9, 128x256w8 13.1, 256x128w8 13.5, 128x192w8 12.9, 128x128w8 14.3, 128x128w4*2 13.0, 64x192w4*2 "
     "11.9"},
    {12544, 768, 192, Epilogue::Erf,
     "64x320w4*2 43.1, 128x256w8 22.8, 256x128w8 22.6, 128x192w8 21.0, 128x128w8 20.6, 128x128w4*2 28.3, 64x192w4*2 "
     "23.5"},
    {12544, 192, 768, Epilogue::Residual,
     "64x320w4*2 24.9, 128x256w8 21.9, 256x128w8 22.9, 128x192w8 21.2, 128x128w8 23.5, 128x128w4*2 22.0, 64x192w4*2 "
     "19.6"},
    {3136, 1152, 384, Epilogue::Plain,
     "64x320w4*2 15.0, 128x256w8 11.6, 256x128w8 11.4, 128x192w8 14.5, 128x128w8 11.5, 128x128w4*2 11.6, 64x192w4*2 "
     "12.2"},
    {3136, 1536, 384, Epilogue::Erf,
     "64x320w4*2 34.0, 128x256w8 20.3, 256x128w8 20.1, 128x192w8 17.2, 128x128w8 17.5, 128x128w4*2 21.7, 64x192w4*2 "
     "17.3"},
    {3136, 384, 384, Epilogue::Residual,
     "64x320w4*2 17.2, 128x256w8 13.4, 256x128w8 13.8, 128x192w8 12.2, 128x128w8 10.5, 128x128w4*2 11.6, 64x192w4*2 "
     "10.6"},
    {784, 3072, 768, Epilogue::Erf,
     "64x320w4*2 16.6, 128x256w8 16.2, 256x128w8 16.1, 128x192w8 13.8, 128x128w8 16.6, 128x128w4*2 26.1, 64x192w4*2 "
     "17.2"},
    {784, 2304, 768, Epilogue::Plain,
     "64x320w4*2 12.3, 128x256w8 13.2, 256x128w8 13.3, 128x192w8 11.6, 128x128w8 9.7, 128x128w4*2 10.4, 64x192w4*2 "
     "12.5"},
    {3152, 768, 192, Epilogue::Erf,
     "64x320w4*2 35.6, 128x256w8 11.0, 256x128w8 11.0, 128x192w8 9.7, 128x128w8 11.8, 128x128w4*2 21.8, 64x192w4*2 "
     "12.9"},
    {3152, 576, 192, Epilogue::Plain,
     "64x320w4*2 8.4, 128x256w8 8.3, 256x128w8 8.4, 128x192w8 7.7, 128x128w8 7.1, 128x128w4*2 7.7, 64x192w4*2 8.4"},
    {3152, 2304, 768, Epilogue::Plain,
     "64x320w4*2 28.2, 128x256w8 24.6, 256x128w8 24.6, 128x192w8 27.1, 128x128w8 24.1, 128x128w4*2 23.0, 64x192w4*2 "
     "23.6"},
    {3152, 3072, 768, Epilogue::Erf,
     "64x320w4*2 53.3, 128x256w8 39.1, 256x128w8 38.6, 128x192w8 39.0, 128x128w8 34.6, 128x128w4*2 39.1, 64x192w4*2 "
     "37.5"},
    {1024, 3072, 768, Epilogue::Erf,
     "64x320w4*2 40.9, 128x256w8 17.7, 256x128w8 17.6, 128x192w8 15.0, 128x128w8 16.9, 128x128w4*2 24.6, 64x192w4*2 "
     "16.6"},
    {1024, 2304, 768, Epilogue::Plain,
     "64x320w4*2 12.6, 128x256w8 14.2, 256x128w8 14.0, 128x192w8 12.3, 128x128w8 14.1, 128x128w4*2 14.5, 64x192w4*2 "
     "12.6"},
    {2048, 3072, 768, Epilogue::Erf,
     "64x320w4*2 40.2, 128x256w8 27.5, 256x128w8 27.5, 128x192w8 24.2, 128x128w8 22.8, 128x128w4*2 25.8, 64x192w4*2 "
     "25.3"},
    {4096, 11008, 4096, Epilogue::Plain,
     "64x320w4*2 540.5, 128x256w8 548.3, 256x128w8 550.4, 128x192w8 560.8, 128x128w8 531.0, 128x128w4*2 532.1, "
     "64x192w4*2 570.4"},
    {19600, 64, 192, Epilogue::Plain, "128x64w4 8.5, 64x64w4 9.3"},
    {19600, 64, 256, Epilogue::Plain, "128x64w4 9.0, 64x64w4 9.9"},
    {19600, 64, 288, Epilogue::Plain, "128x64w4 10.2, 64x64w4 11.7"},
    {4096, 5120, 5120, Epilogue::Plain,
     "128x320w8 297.6, 64x320w4*2 302.0, 128x256w8 284.3, 256x128w8 284.0, 128x192w8 302.8, 128x128w8 342.8, "
     "128x128w4*2 337.6, 64x192w4*2 326.5"},
    {4096, 5120, 1280, Epilogue::Erf,
     "128x320w8 91.4, 64x320w4*2 103.1, 128x256w8 88.1, 256x128w8 88.5, 128x192w8 96.6, 128x128w8 90.2, 128x128w4*2 "
     "93.1, 64x192w4*2 105.1"},
    {512, 5120, 5120, Epilogue::Plain,
     "128x320w8 65.6, 64x320w4*2 46.8, 128x256w8 55.0, 256x128w8 55.0, 128x192w8 46.3, 128x128w8 60.7, 128x128w4*2 "
     "59.9, 64x192w4*2 53.7"},
    {512, 1024, 4096, Epilogue::Plain,
     "64x64w4 14.9, 128x64w4/2 16.3, 64x128w4/2 16.9, 64x128w4 17.2, 128x64w4 17.4, 64x192w4/2 18.5, 128x128w8/4 18.8, "
     "128x128w8/2 19.3, 128x128w4/4 19.3, 128x128w4/2 19.7, 128x192w8/4 22.0, 128x256w8/4 23.5"},
    {256, 1600, 6400, Epilogue::Plain,
     "128x64w4/2 21.3, 64x64w4 21.4, 64x128w4/2 22.0, 128x64w4 24.0, 64x192w4/2 24.1, 128x128w8/4 24.2, 128x128w4/4 "
     "24.6, 64x128w4 24.6, 128x128w8/2 25.4, 128x128w4/2 25.9, 128x192w8/4 26.8, 64x320w4/4 28.0"},
    {256, 1024, 1024, Epilogue::Plain,
     "64x64w4 7.2, 64x64w4/2 9.2, 64x128w4/2 9.8, 128x64w4/2 10.0, 128x64w4/4 10.7, 64x128w4/4 10.8, 64x192w4/2 11.1, "
     "64x192w4/4 11.7, 128x128w8/4 11.8, 128x128w8/2 12.0, 128x128w4/4 12.3, 128x128w4/2 12.6"},
    {256, 1024, 4096, Epilogue::Plain,
     "64x64w4/2 12.8, 128x64w4/2 14.3, 64x128w4/2 14.3, 128x64w4/4 14.6, 64x128w4/4 14.7, 64x64w4 14.7, 128x128w8/4 "
     "16.6, 64x192w4/2 16.7, 64x192w4/4 16.8, 128x128w4/4 16.9, 128x128w8/8 18.3, 128x128w8/2 18.9"},
    {256, 1280, 5120, Epilogue::Plain,
     "128x64w4/2 17.2, 64x64w4 17.3, 64x128w4/2 17.3, 64x192w4/2 19.6, 64x192w4/4 19.9, 128x128w8/4 20.3, 128x128w4/4 "
     "20.7, 128x128w8/2 21.2, 128x128w4/2 21.5, 128x192w8/4 22.6, 64x320w4/4 23.1, 64x320w4/8 24.5"},
    {512, 1280, 5120, Epilogue::Plain,
     "128x64w4 20.6, 64x128w4 21.0, 128x128w8/2 22.6, 128x128w4/2 22.9, 64x192w4/2 23.3, 64x192w4 24.0, 64x320w4/4 "
     "25.1, 128x192w8/4 25.3, 256x128w8/4 27.3, 128x256w8/4 27.6, 64x64w4 27.9, 64x320w4/2 28.0"},
    {1024, 1024, 4096, Epilogue::Plain,
     "64x128w4 18.9, 128x64w4 20.2, 128x128w8/2 23.5, 128x128w4/2 23.9, 64x64w4 24.4, 64x192w4 25.1, 128x128w4 25.4, "
     "128x128w8 25.5, 256x128w8/4 27.2, 128x256w8/4 27.3, 128x192w8/2 27.3, 128x256w8/2 31.5"},
    {577, 1024, 4096, Epilogue::Plain,
     "128x64w4 19.0, 64x128w4 19.1, 128x128w8/2 20.0, 128x128w4/2 20.5, 64x192w4 22.5, 128x192w8/4 23.8, 128x256w8/4 "
     "24.7, 64x192w4/2 25.2, 128x192w8/2 25.4, 64x64w4 25.8, 64x320w4/2 27.6, 256x128w8/4 27.7"},
    {729, 4304, 1152, Epilogue::Plain,
     "128x256w8 18.1, 256x128w8 18.1, 128x128w4 19.7, 128x128w8 20.1, 128x64w4 24.4, 128x192w8 24.5, 64x192w4 24.9, "
     "64x128w4 25.8, 64x320w4 27.0, 64x64w4 32.6"},
    {900, 256, 2048, Epilogue::Plain,
     "64x64w4 10.2, 64x64w4/2 10.9, 128x64w4/2 11.5, 64x128w4/2 12.0, 128x64w4/4 12.1, 64x128w4/4 12.3, 64x192w4/2 "
     "13.6, 128x128w8/4 14.1, 128x128w4/4 14.3, 64x192w4/4 14.3, 128x128w8/2 14.8, 64x320w4/4 14.8"},
    {512, 1536, 8960, Epilogue::Plain,
     "128x64w4 33.3, 64x192w4/2 33.4, 128x128w4/2 34.3, 128x128w8/2 34.4, 64x128w4 34.4, 128x192w8/4 35.4, 64x192w4 "
     "38.9, 256x128w8/4 39.0, 128x256w8/4 39.4, 128x192w8/2 42.9, 64x320w4/2 43.4, 64x64w4 47.9"},
    {384, 1024, 4096, Epilogue::Plain,
     "64x64w4 15.0, 64x128w4/2 15.4, 128x64w4/2 15.5, 64x192w4/2 17.4, 128x128w8/4 18.1, 128x128w4/4 18.8, 128x128w8/2 "
     "19.3, 128x128w4/2 19.5, 128x192w8/4 21.0, 64x320w4/4 21.5, 256x128w8/4 23.3, 64x320w4/2 23.4"},
    {512, 768, 3072, Epilogue::Plain,
     "64x64w4 12.2, 64x128w4/2 13.3, 128x64w4/2 13.4, 64x192w4/3 14.6, 64x192w4/2 14.8, 64x192w4/4 15.5, 128x128w8/3 "
     "15.6, 128x128w4/3 16.2, 128x128w4/4 16.5, 128x128w8/4 16.5, 128x128w8/2 16.7, 128x128w4/2 17.0"},
    {1024, 768, 3072, Epilogue::Plain,
     "128x64w4 14.9, 64x128w4 15.1, 64x192w4 16.9, 64x192w4/2 17.4, 128x128w8/2 18.5, 128x128w4/2 18.6, 64x64w4 19.8, "
     "128x192w8/4 20.5, 128x192w8/3 21.1, 128x192w8/2 22.2, 128x256w8/4 22.7, 256x128w8/4 22.7"},
    {400, 512, 2048, Epilogue::Plain,
     "64x64w4 9.6, 64x64w4/2 9.9, 64x128w4/2 11.0, 64x128w4/4 11.4, 128x64w4/4 11.5, 128x64w4/2 11.6, 64x192w4/2 12.7, "
     "64x192w4/4 12.8, 128x128w8/4 13.4, 128x128w4/4 13.9, 128x128w8/2 14.3, 128x128w8/8 14.5"},
    {256, 768, 768, Epilogue::Plain,
     "64x64w4 6.8, 64x128w4 7.4, 128x64w4 7.5, 64x64w4/2 8.5, 128x64w4/2 9.3, 64x128w4/2 9.3, 64x128w4/3 9.4, "
     "128x64w4/3 9.4, 64x192w4/2 10.3, 64x192w4/3 10.6, 128x128w8/2 11.0, 128x128w8/3 11.1"},
    {512, 1024, 1024, Epilogue::Plain,
     "64x64w4 7.4, 64x128w4 8.4, 128x64w4 8.5, 64x192w4 9.3, 64x128w4/2 10.6, 128x64w4/2 10.7, 128x128w4 10.9, "
     "128x128w8 10.9, 64x192w4/2 11.8, 128x128w8/2 12.2, 128x128w4/2 12.6, 128x128w8/4 12.9"},
    {128, 2304, 768, Epilogue::Plain,
     "64x64w4 7.7, 64x128w4 8.1, 128x64w4 8.3, 64x192w4 8.7, 64x128w4/2 10.0, 128x64w4/2 10.1, 64x128w4/3 10.5, "
     "128x64w4/3 10.8, 64x192w4/2 11.3, 64x192w4/3 11.5, 128x128w8/3 11.8, 128x128w8/2 11.9"},
    {197, 768, 3072, Epilogue::Plain,
     "64x64w4/2 11.4, 64x128w4/3 11.8, 128x64w4/3 11.9, 64x64w4 12.1, 128x64w4/2 12.5, 64x128w4/2 12.6, 64x128w4/4 "
     "12.7, 128x64w4/4 13.0, 128x64w4 13.4, 64x192w4/3 13.6, 64x192w4/4 13.8, 64x128w4 13.9"},
    {384, 768, 3072, Epilogue::Plain,
     "64x64w4 12.3, 128x64w4/3 12.7, 128x64w4/2 12.8, 64x128w4/3 12.9, 64x128w4/2 13.0, 128x64w4 14.0, 64x128w4 14.1, "
     "64x192w4/3 14.3, 64x192w4/2 14.7, 64x192w4/4 14.8, 128x128w8/4 15.0, 128x128w8/3 15.4"},
    {300, 1280, 5120, Epilogue::Plain,
     "64x64w4 17.5, 64x128w4/2 17.9, 64x192w4/2 20.1, 64x128w4 20.3, 128x64w4 21.0, 128x128w8/2 21.7, 128x128w8/4 "
     "22.1, 128x64w4/2 22.1, 128x128w4/2 22.2, 128x128w4/4 22.5, 128x192w8/4 23.1, 64x192w4 23.3"},
    {154, 1280, 2048, Epilogue::Plain,
     "64x64w4 9.6, 64x64w4/2 10.8, 128x64w4 11.2, 64x128w4 11.2, 64x128w4/2 11.7, 64x128w4/4 12.3, 64x192w4 12.8, "
     "128x64w4/2 12.9, 64x192w4/2 13.5, 64x192w4/4 13.6, 128x128w8/2 14.3, 128x128w8/4 14.6"},
    {100, 2048, 512, Epilogue::Plain,
     "64x64w4 6.8, 64x128w4 7.1, 128x64w4 7.1, 64x192w4 7.9, 64x64w4/2 8.6, 128x64w4/2 9.2, 64x128w4/2 9.3, 64x192w4/2 "
     "10.3, 128x128w8/2 10.7, 128x128w4/2 11.0, 128x192w8/2 12.3, 128x256w8/2 13.8"},
    {128, 4096, 1024, Epilogue::Plain,
     "64x64w4 9.2, 128x64w4 9.6, 64x128w4 9.7, 64x192w4 10.4, 128x128w8 11.4, 128x128w4 11.6, 128x64w4/2 12.2, "
     "64x128w4/2 12.5, 64x192w4/2 13.2, 128x192w8 13.6, 128x128w8/2 13.6, 128x128w4/2 14.1"},
    {392, 256, 2304, Epilogue::Plain,
     "64x64w4/3 9.3, 64x64w4/2 9.3, 64x64w4/4 9.5, 64x64w4 10.1, 128x64w4/3 10.4, 64x128w4/3 10.5, 128x64w4/4 10.9, "
     "64x128w4/2 11.0, 128x64w4/2 11.0, 64x128w4/4 11.1, 128x64w4 11.1, 64x128w4/6 11.4"},
    {196, 512, 4608, Epilogue::Plain,
     "64x64w4/4 11.8, 64x64w4/3 11.9, 64x64w4/2 12.1, 64x128w4/3 12.6, 128x64w4/3 12.6, 64x128w4/4 12.7, 128x64w4/4 "
     "12.8, 128x64w4/6 13.9, 64x128w4/6 13.9, 128x64w4/2 14.0, 64x128w4/2 14.1, 64x128w4/8 14.1"},
};

std::string kernelText(const Timed &row) {
  std::string m = std::to_string(row.m), n = std::to_string(row.n), k = std::to_string(row.k),
              lhs = "tensor<" + m + "x" + k + "xf16>", rhs = "tensor<" + k + "x" + n + "xf16>",
              result = "tensor<" + m + "x" + n + "xf16>", sums = "tensor<" + m + "x" + n + "xf32>";
  std::string text =
      "graph.kernel @k(%x: " + lhs + ", %w: " + rhs + (row.epilogue == Epilogue::Residual ? ", %r: " + result : "") +
      ") -> " + result + " {\n %c = graph.contract %x, %w " +
      "maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] " +
      "{graph.node = 0 : i64} : " + lhs + ", " + rhs + " -> " + sums + "\n";
  switch (row.epilogue) {
  case Epilogue::Plain:
    text += " %e = arith.negf %c : " + sums + "\n";
    break;
  case Epilogue::Residual:
    text += " %s = arith.extf %r : " + result + " to " + sums + "\n %e = arith.addf %c, %s : " + sums + "\n";
    break;
  case Epilogue::Tanh:
    text += " %e = math.tanh %c : " + sums + "\n";
    break;
  case Epilogue::Erf:
    text += " %e = math.erf %c : " + sums + "\n";
    break;
  }
  return text + " %y = arith.truncf %e : " + sums + " to " + result + "\n graph.return %y : " + result + "\n}";
}

std::map<std::string, double> timesOf(const Timed &row) {
  std::map<std::string, double> times;
  std::istringstream stream(row.times);
  for (std::string tile, time; stream >> tile >> time;)
    times[tile] = std::stod(time);
  return times;
}

/// The tile that is chosen, as the table above names it. Where a block has one tile there is one group, whatever the
/// table of tiles says.
std::string chosenTile(const Timed &row) {
  MLIRContext context;
  context.loadDialect<graph::GraphDialect, tile::TileDialect, arith::ArithDialect, math::MathDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kernelText(row), &context);
  Expected<const TargetDesc *> target = findTarget("sm_90a");
  if (!module || !target.ok())
    return "";
  FailureOr<tile::ScheduleAttr> schedule =
      tilegen::selectSchedule(module->lookupSymbol<graph::KernelOp>("k"), **target);
  if (failed(schedule) || schedule->getGroups() == 0)
    return "";
  ArrayRef<int64_t> tile = schedule->getTile().take_back(2);
  std::string name = fmt::format("{}x{}w{}", tile[0], tile[1], schedule->getWarps());
  return schedule->getParts() > 1 ? fmt::format("{}/{}", name, schedule->getParts()) : name;
}

TEST(RoleTilesTest, TakeLittleLongerThanTheBestThatWasTimed) {
  constexpr double mostOfOne = 1.14, mostOfAll = 1.02;
  double logarithms = 0;
  for (const Timed &row : timed) {
    std::string name = fmt::format("{}x{}x{}", row.m, row.n, row.k), tile = chosenTile(row);
    ASSERT_NE(tile, "") << name << " has no schedule with roles";
    std::map<std::string, double> times = timesOf(row);
    if (!times.count(tile))
      tile += "*2";
    ASSERT_TRUE(times.count(tile)) << name << ": " << tile << " was not timed";
    double best = std::min_element(times.begin(), times.end(),
                                   [](const auto &a, const auto &b) { return a.second < b.second; })
                      ->second,
           ratio = times[tile] / best;
    EXPECT_LE(ratio, mostOfOne) << name << " with " << tile;
    logarithms += std::log(ratio);
  }
  EXPECT_LE(std::exp(logarithms / std::size(timed)), mostOfAll);
}

} // namespace
