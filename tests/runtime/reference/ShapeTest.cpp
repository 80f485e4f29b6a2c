// SPDX-License-Identifier: Apache-2.0
// Kernels that move elements or make them from shapes: reshapes, slices, pads, gathers, scatters, and what they refuse.
#include "tests/runtime/reference/Evaluate.h"

#include <limits>

using namespace tilewright;
using namespace tilewright::test;

using Ints = std::vector<int64_t>;
static constexpr int64_t big = std::numeric_limits<int64_t>::max(), small = std::numeric_limits<int64_t>::min();

TEST(ReferenceShape, Reshapes) {
  Tensor x = counting({2, 3, 4});
  expectOutputs({"Reshape"}, {x, indices({0, -1})}, {counting({2, 12})});
  expectOutputs({"Reshape"}, {x, indices({4, 6})}, {counting({4, 6})});
  expectOutputs({"Reshape", 14, {{"allowzero", int64_t{1}}}}, {floats({0, 3}, {}), indices({3, 0})},
                {floats({3, 0}, {})});
  expectMalformed({"Reshape"}, {x, indices({-1, -1})}, "expected at most one -1");
  expectMalformed({"Reshape"}, {x, indices({5, -1})}, "cannot be inferred from 24 elements");
  expectMalformed({"Reshape"}, {x, indices({5, 5})}, "shape [5, 5] has not as many elements as [2, 3, 4]");
  expectMalformed({"Reshape"}, {x, indices({-3, -8})}, "dimensions of 0 or more");
  expectOutputs({"Flatten", 13, {{"axis", int64_t{2}}}}, {x}, {counting({6, 4})});
  expectOutputs({"Flatten", 13, {{"axis", int64_t{0}}}}, {x}, {counting({1, 24})});
}

TEST(ReferenceShape, AddsAndDropsDimensions) {
  expectOutputs({"Squeeze", 11, {{"axes", Ints{0}}}}, {counting({1, 3, 1})}, {counting({3, 1})});
  expectOutputs({"Squeeze", 13}, {counting({1, 3, 1})}, {counting({3})});
  expectOutputs({"Squeeze", 13}, {counting({1, 3, 1}), indices({-1})}, {counting({1, 3})});
  expectMalformed({"Squeeze", 13}, {counting({1, 3}), indices({1})},
                  "expected dimension 1 to be 1, found shape [1, 3]");
  expectOutputs({"Unsqueeze", 13}, {counting({3}), indices({0, -1})}, {counting({1, 3, 1})});
  expectOutputs({"Unsqueeze", 11, {{"axes", Ints{1}}}}, {counting({3})}, {counting({3, 1})});
  expectMalformed({"Unsqueeze", 13}, {counting({3}), indices({0, 0})}, "axis 0 is given twice");
  expectMalformed({"Unsqueeze", 13}, {counting({3}), indices({5})}, "expected an axis from -2 to 1, found 5");
}

TEST(ReferenceShape, TellsShapes) {
  expectOutputs({"Shape", 13}, {counting({2, 3, 4})}, {indices({2, 3, 4})});
  expectOutputs({"Shape", 15, {{"start", int64_t{-2}}, {"end", int64_t{-1}}}}, {counting({2, 3, 4})}, {indices({3})});
  expectOutputs({"Shape", 15, {{"start", int64_t{5}}}}, {counting({2})}, {ints({0}, {})});
  expectOutputs({"Size"}, {counting({2, 3})}, {ints({}, {6})});
}

TEST(ReferenceShape, Transposes) {
  expectOutputs({"Transpose"}, {counting({2, 3})}, {floats({3, 2}, {0, 3, 1, 4, 2, 5})});
  expectOutputs({"Transpose", 13, {{"perm", Ints{1, 0, 2}}}}, {counting({2, 2, 2})},
                {floats({2, 2, 2}, {0, 1, 4, 5, 2, 3, 6, 7})});
  expectMalformed({"Transpose", 13, {{"perm", Ints{0, 0}}}}, {counting({2, 2})}, "axis 0 is given twice");
  expectMalformed({"Transpose", 13, {{"perm", Ints{0}}}}, {counting({2, 2})}, "expected a permutation of 2 axes");
  expectOutputs({"DepthToSpace", 13, {{"blocksize", int64_t{2}}}}, {counting({1, 4, 1, 1})}, {counting({1, 1, 2, 2})});
  expectOutputs({"SpaceToDepth", 13, {{"blocksize", int64_t{2}}}}, {counting({1, 1, 2, 2})}, {counting({1, 4, 1, 1})});
}

TEST(ReferenceShape, Slices) {
  Tensor x = counting({5});
  expectOutputs({"Slice", 9, {{"starts", Ints{1}}, {"ends", Ints{-1}}}}, {x}, {vector({1, 2, 3})});
  expectOutputs({"Slice", 13}, {x, ints({1}, {-1}), ints({1}, {-100}), indices({0}), indices({-2})},
                {vector({4, 2, 0})});
  Tensor extremes = ints({1}, {0}), step = ints({1}, {0});
  extremes.data<int64_t>()[0] = big;
  step.data<int64_t>()[0] = small;
  expectOutputs({"Slice", 13}, {x, extremes, indices({0}), indices({0}), step}, {vector({4})});
  expectOutputs({"Slice", 13}, {x, indices({3}), indices({1})}, {floats({0}, {})});
  expectMalformed({"Slice", 13}, {x, indices({0}), indices({1}), indices({0}), indices({0})},
                  "expected steps other than 0");
  expectMalformed({"Slice", 13}, {x, indices({0, 0}), indices({1, 1})}, "expected an axis from -1 to 0, found 1");
}

TEST(ReferenceShape, Pads) {
  Tensor x = vector({1, 2, 3});
  expectOutputs({"Pad", 13}, {x, indices({1, 2}), scalar(9)}, {vector({9, 1, 2, 3, 9, 9})});
  expectOutputs({"Pad", 13, {{"mode", "reflect"}}}, {x, indices({2, 3})}, {vector({3, 2, 1, 2, 3, 2, 1, 2})});
  expectOutputs({"Pad", 13, {{"mode", "edge"}}}, {x, indices({1, 1})}, {vector({1, 1, 2, 3, 3})});
  expectOutputs({"Pad", 19, {{"mode", "wrap"}}}, {x, indices({1, 2})}, {vector({3, 1, 2, 3, 1, 2})});
  expectOutputs({"Pad", 13}, {x, indices({-1, 1})}, {vector({2, 3, 0})});
  expectOutputs({"Pad", 9, {{"pads", Ints{0, 1}}, {"value", 5.0f}}}, {x}, {vector({1, 2, 3, 5})});
  expectOutputs({"Pad", 18}, {counting({1, 2}), indices({1, 0}), Tensor(), indices({-1})}, {floats({1, 3}, {0, 0, 1})});
  expectMalformed({"Pad", 13}, {x, indices({1})}, "expected 2 pads");
  expectMalformed({"Pad", 13}, {x, indices({-2, -2})}, "pads -2 and -2 do not fit a dimension of 3");
  Tensor bomb = indices({1, 0});
  bomb.data<int64_t>()[1] = big / 2;
  expectMalformed({"Pad", 13}, {x, bomb}, "larger than this machine's memory");
}

TEST(ReferenceShape, RepeatsAndJoins) {
  expectOutputs({"Expand"}, {floats({2, 1}, {1, 2}), indices({3, 1, 2})},
                {floats({3, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2})});
  expectOutputs({"Tile"}, {vector({1, 2}), indices({2})}, {vector({1, 2, 1, 2})});
  expectOutputs({"Tile"}, {vector({1, 2}), indices({0})}, {floats({0}, {})});
  expectOutputs({"Concat", 13, {{"axis", int64_t{-1}}}}, {floats({2, 1}, {1, 3}), floats({2, 2}, {5, 6, 7, 8})},
                {floats({2, 3}, {1, 5, 6, 3, 7, 8})});
  expectMalformed({"Concat", 13, {{"axis", int64_t{0}}}}, {counting({1, 2}), counting({1, 3})},
                  "differ in dimension 0 only");
  Tensor bomb = indices({0, 0});
  bomb.data<int64_t>()[0] = bomb.data<int64_t>()[1] = int64_t{1} << 40;
  expectMalformed({"Expand"}, {scalar(1), bomb}, "does not fit into 64 bits");
  expectMalformed({"ConstantOfShape"}, {ints({1}, {1LL << 45})}, "larger than this machine's memory");
  expectMalformed({"ConstantOfShape"}, {indices({-1})}, "dimensions of 0 or more");
}

TEST(ReferenceShape, Splits) {
  expectOutputs({"Split", 11, {{"split", Ints{1, 2}}}, 2}, {vector({1, 2, 3})}, {vector({1}), vector({2, 3})});
  expectOutputs({"Split", 13, {}, 2}, {vector({1, 2, 3}), indices({3, 0})}, {vector({1, 2, 3}), floats({0}, {})});
  expectOutputs({"Split", 18, {{"num_outputs", int64_t{2}}}, 2}, {vector({1, 2, 3})}, {vector({1, 2}), vector({3})});
  expectMalformed({"Split", 13, {}, 2}, {vector({1, 2, 3})}, "divides into 2 equal parts, found 3");
  expectMalformed({"Split", 13, {}, 2}, {vector({1, 2, 3}), indices({1, 1})}, "sizes that add up to 3");
}

TEST(ReferenceShape, Gathers) {
  Tensor x = counting({3, 2});
  expectOutputs({"Gather"}, {x, ints({1, 2}, {-1, 0})}, {floats({1, 2, 2}, {4, 5, 0, 1})});
  expectOutputs({"Gather", 13, {{"axis", int64_t{1}}}}, {x, ints({}, {1})}, {vector({1, 3, 5})});
  expectMalformed({"Gather"}, {x, indices({3})}, "index 3 is out of range for dimension 0 of size 3");
  expectMalformed({"Gather", 13, {{"axis", int64_t{1}}}}, {x, indices({-3})},
                  "index -3 is out of range for dimension 1 of size 2");
  expectOutputs({"GatherElements", 13, {{"axis", int64_t{1}}}}, {x, ints({2, 1}, {1, 0})}, {floats({2, 1}, {1, 2})});
  expectMalformed({"GatherElements"}, {x, ints({1, 3}, {0, 0, 0})}, "reach outside of [3, 2]");
  expectOutputs({"GatherND"}, {x, ints({2, 2}, {0, 1, 2, 0})}, {vector({1, 4})});
  expectOutputs({"GatherND", 12, {{"batch_dims", int64_t{1}}}}, {x, ints({3, 1}, {1, 0, 1})}, {vector({1, 2, 5})});
  expectMalformed({"GatherND"}, {x, ints({1, 2}, {0, 2})}, "index 2 is out of range for dimension 1 of size 2");
  expectMalformed({"GatherND"}, {x, ints({1, 3}, {0, 0, 0})}, "do not fit shape [3, 2]");
}

TEST(ReferenceShape, Scatters) {
  Tensor x = vector({1, 2, 3});
  expectOutputs({"ScatterElements"}, {x, indices({2, 0}), vector({8, 9})}, {vector({9, 2, 8})});
  expectOutputs({"ScatterElements", 16, {{"reduction", "add"}}}, {x, indices({1, 1}), vector({10, 20})},
                {vector({1, 32, 3})});
  expectOutputs({"ScatterElements", 18, {{"reduction", "max"}}}, {x, indices({0, 2}), vector({5, 0})},
                {vector({5, 2, 3})});
  expectOutputs({"ScatterND"}, {counting({2, 2}), ints({1, 1}, {1}), floats({1, 2}, {7, 8})},
                {floats({2, 2}, {0, 1, 7, 8})});
  expectMalformed({"ScatterElements"}, {x, indices({3}), vector({1})},
                  "index 3 is out of range for dimension 0 of size 3");
  expectMalformed({"ScatterND"}, {x, ints({1, 1}, {0}), vector({1, 2})}, "expected updates of shape [1], found [2]");
  expectMalformed({"ScatterND", 16, {{"reduction", "xor"}}}, {x, ints({1, 1}, {0}), vector({1})}, "found 'xor'");
}

TEST(ReferenceShape, SelectsAndGenerates) {
  expectOutputs({"OneHot"}, {indices({1, -1, 5}), ints({}, {3}), vector({0, 1})},
                {floats({3, 3}, {0, 1, 0, 0, 0, 1, 0, 0, 0})});
  expectOutputs({"NonZero"}, {floats({2, 2}, {0, 1, 2, 0})}, {ints({2, 2}, {0, 1, 1, 0})});
  expectOutputs({"Compress", 11, {{"axis", int64_t{0}}}}, {counting({3, 1}), tensor(DType::Bool, {3}, {1, 0, 1})},
                {floats({2, 1}, {0, 2})});
  expectOutputs({"Unique", 11, {}, 4}, {vector({2, 1, 1, 3, 2})},
                {vector({1, 2, 3}), indices({1, 0, 3}), indices({1, 0, 0, 2, 1}), indices({2, 2, 1})});
  expectOutputs({"Unique", 11, {{"sorted", int64_t{0}}}}, {vector({2, 1, 1, 3})}, {vector({2, 1, 3})});
  expectOutputs({"Range"}, {scalar(10), scalar(4), scalar(-2)}, {vector({10, 8, 6})});
  expectMalformed({"Range"}, {scalar(1), scalar(2), scalar(0)}, "expected a delta other than 0");
  expectOutputs({"EyeLike", 9, {{"k", int64_t{1}}}}, {counting({2, 3})}, {floats({2, 3}, {0, 1, 0, 0, 0, 1})});
  expectOutputs({"Trilu", 14, {{"upper", int64_t{0}}}}, {counting({2, 2}, 1), ints({}, {-1})},
                {floats({2, 2}, {0, 0, 3, 0})});
  expectOutputs({"Trilu"}, {counting({2, 2}, 1)}, {floats({2, 2}, {1, 2, 0, 4})});
  expectOutputs({"ReverseSequence", 10, {{"batch_axis", int64_t{0}}, {"time_axis", int64_t{1}}}},
                {counting({2, 3}), indices({3, 2})}, {floats({2, 3}, {2, 1, 0, 4, 3, 5})});
  expectMalformed({"ReverseSequence"}, {counting({2, 1}), indices({3})}, "sequence lengths from 0 to 2, found 3");
}

namespace tilewright::test {

/// As in ONNX Runtime: a backward slice that starts before the first element starts at it; negative pads crop before
/// the others repeat.
TEST(ReferenceShape, ClampsBackwardStartsAndCropsBeforePadding) {
  Tensor x = vector({1, 2, 3, 4, 5});
  expectOutputs({"Slice", 13}, {vector({1, 2}), indices({-5}), indices({-6}), indices({-1}), indices({-1})},
                {vector({1})});
  expectOutputs({"Pad", 19, {{"mode", std::string("wrap")}}}, {x, indices({3, -1})}, {vector({2, 3, 4, 1, 2, 3, 4})});
  expectOutputs({"Pad", 19, {{"mode", std::string("reflect")}}}, {x, indices({-2, 2})}, {vector({3, 4, 5, 4, 3})});
}

TEST(ReferenceShape, RearrangesBlocksInBothOrders) {
  Tensor x = counting({1, 2, 2, 2});
  expectOutputs({"SpaceToDepth", 28, {{"blocksize", int64_t{2}}}}, {x},
                {floats({1, 8, 1, 1}, {0, 4, 1, 5, 2, 6, 3, 7})});
  expectOutputs({"SpaceToDepth", 28, {{"blocksize", int64_t{2}}, {"mode", std::string("CRD")}}}, {x},
                {floats({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7})});
}

} // namespace tilewright::test
