// SPDX-License-Identifier: Apache-2.0
// Sizes that import cannot prove: at all sizes, one artifact with symbolic sizes agrees with the reference compiled for
// them, and refuses sizes that the model does not accept with a sentence.
#include "tests/e2e/HostContext.h"

using namespace tilewright;
using namespace tilewright::runtime;
using namespace tilewright::test;

namespace {

struct SymbolicCase {
  std::string name;
  TinyModel model;                              // of f32 inputs
  std::vector<std::vector<Shape>> runs;         // shapes of the inputs
  std::vector<std::vector<Shape>> refused = {}; // shapes that no plan takes
};

class SymbolicSizes : public testing::TestWithParam<SymbolicCase> {
protected:
  static Expected<std::unique_ptr<Context>> compile(PlanMode mode, const std::vector<Shape> &fixed = {}) {
    return contextOf(GetParam().model, mode, fixed);
  }

  static std::vector<Tensor> inputs(const std::vector<Shape> &shapes) {
    std::vector<Tensor> tensors;
    for (const Shape &shape : shapes)
      tensors.push_back(sampleTensor(DType::F32, shape, tensors.size() + 1));
    return tensors;
  }
};

TEST_P(SymbolicSizes, AreTakenAsTheyCome) {
  for (PlanMode mode : {PlanMode::All, PlanMode::None}) {
    auto symbolic = compile(mode);
    ASSERT_TRUE(symbolic.ok()) << symbolic.status().message();
    for (const std::vector<Shape> &shapes : GetParam().runs) {
      auto fixed = compile(PlanMode::Reference, shapes);
      ASSERT_TRUE(fixed.ok()) << fixed.status().message();
      std::vector<Tensor> given = inputs(shapes);
      auto want = (*fixed)->run(given), got = (*symbolic)->run(given);
      ASSERT_TRUE(want.ok()) << want.status().message();
      ASSERT_TRUE(got.ok()) << got.status().message();
      for (size_t i = 0; i < want->size(); ++i)
        expectClose((*got)[i], (*want)[i], "output " + std::to_string(i));
    }
    for (const std::vector<Shape> &shapes : GetParam().refused) {
      auto got = (*symbolic)->run(inputs(shapes));
      ASSERT_FALSE(got.ok());
      EXPECT_TRUE(got.status().code() == Code::Malformed || got.status().code() == Code::Usage)
          << got.status().message();
      EXPECT_NE(got.status().message().find("expected"), std::string::npos) << got.status().message();
    }
  }
}

/// MaxPool of a square kernel; `symmetric` elements of padding.
void pool(TinyModel &model, const std::string &to, int64_t kernel, int64_t stride, int64_t padding, bool ceiling) {
  onnx::NodeProto *node = model.node("MaxPool", {"x"}, {to});
  setAttribute(node, "kernel_shape", std::vector<int64_t>{kernel, kernel});
  setAttribute(node, "strides", std::vector<int64_t>{stride, stride});
  setAttribute(node, "pads", std::vector<int64_t>(4, padding));
  setAttribute(node, "ceil_mode", int64_t(ceiling));
}

void withAxis(onnx::NodeProto *node, int64_t axis) { setAttribute(node, "axis", axis); }

std::vector<SymbolicCase> windows() {
  std::vector<SymbolicCase> list;
  for (bool ceiling : {false, true}) {
    SymbolicCase meeting{ceiling ? "PoolsOfWhichOneRoundsUp" : "PoolsOfWhichOneIsPadded",
                         TinyModel(),
                         {{{1, 2, 8, 8}}, {{2, 2, 6, 10}}, {{1, 2, 2, 4}}},
                         {{{1, 2, 7, 8}}, {{1, 2, 8, 9}}}};
    meeting.model.input("x", {"n", 2, "h", "w"}).output("y").output("z");
    pool(meeting.model, "a", ceiling ? 2 : 3, 2, ceiling ? 0 : 1, ceiling);
    pool(meeting.model, "b", 2, 2, 0, false);
    meeting.model.node("Add", {"a", "b"}, {"y"});
    withAxis(meeting.model.node("Concat", {"b", "a"}, {"z"}), 1);
    list.push_back(std::move(meeting));
  }
  // The last window must begin inside, so with a kernel of 1 and a stride of 2 ceil_mode has no effect.
  SymbolicCase last{"WindowsThatBeginInside", TinyModel(), {{{1, 2, 8, 8}}, {{1, 2, 7, 5}}, {{1, 2, 1, 2}}}};
  last.model.input("x", {"n", 2, "h", "w"}).output("y");
  pool(last.model, "y", 1, 2, 0, true);
  list.push_back(std::move(last));
  // The slice begins at the lesser of 0 and a size that may be negative, which is 0 for every image that has a window.
  // Its rows are the channels of one image or of several.
  SymbolicCase sliced{"ASliceThatBeginsAtTheLesserOfTwo", TinyModel(), {{{2, 3, 20, 16}}, {{1, 3, 9, 7}}}};
  TinyModel &m = sliced.model.input("x", {"n", 3, "h", "w"}).output("y");
  m.integers("first", {1}, {0}), m.integers("second", {1}, {1});
  pool(m, "a", 5, 2, 0, false);
  m.node("Neg", {"a"}, {"b"});
  setAttribute(m.node("Transpose", {"b"}, {"c"}), "perm", std::vector<int64_t>{3, 0, 1, 2});
  m.node("Slice", {"c", "first", "second", "first"}, {"y"});
  list.push_back(std::move(sliced));
  return list;
}

std::vector<SymbolicCase> paddings() {
  std::vector<SymbolicCase> list;
  for (const char *mode : {"reflect", "edge", "wrap"}) {
    SymbolicCase padding{fmt::format("PaddingBy_{}", mode), TinyModel(), {{{2, 5}}, {{1, 4}}, {{3, 9}}}, {}};
    padding.model.input("x", {"n", "w"}).output("y").output("cropped");
    padding.model.integers("pads", {4}, {0, 3, 0, 2}), padding.model.integers("crops", {4}, {0, -1, 0, 2});
    setAttribute(padding.model.node("Pad", {"x", "pads"}, {"y"}), "mode", std::string(mode));
    setAttribute(padding.model.node("Pad", {"x", "crops"}, {"cropped"}), "mode", std::string(mode));
    list.push_back(std::move(padding));
  }
  // F.pad as TorchScript writes it: paddings from the last dimension to the first, reversed. The table has one row for
  // all rows of z.
  SymbolicCase turned{"PaddingOfSymbolicSize", TinyModel(), {{{5}, {2, 11}}, {{3}, {4, 7}}}, {}};
  TinyModel &m = turned.model.input("x", {"w"}).input("z", {"n", "2 * w + 1"}).output("y");
  m.floats("table", {1, 3}, {1, 2, 3}), m.integers("one", {1}, {1}), m.integers("none", {2}, {0, 0}),
      m.integers("pairs", {2}, {-1, 2});
  m.integers("last", {1}, {-1}), m.integers("before", {1}, {INT64_MIN}), m.integers("first", {1}, {0}),
      m.integers("flat", {1}, {-1});
  m.node("Shape", {"x"}, {"w"}), m.node("Sub", {"w", "one"}, {"p"});
  withAxis(m.node("Concat", {"p", "p", "none"}, {"list"}), 0);
  m.node("Reshape", {"list", "pairs"}, {"rows"}),
      m.node("Slice", {"rows", "last", "before", "first", "last"}, {"turned"});
  setAttribute(m.node("Transpose", {"turned"}, {"columns"}), "perm", std::vector<int64_t>{1, 0});
  m.node("Reshape", {"columns", "flat"}, {"pads"}), m.node("Pad", {"table", "pads"}, {"padded"}),
      m.node("Add", {"padded", "z"}, {"y"});
  list.push_back(std::move(turned));
  // Up to whole windows of four columns: by what is known of the size (behind), and by what only moves elements (in
  // front, and by mirroring).
  for (std::string mode : {"constant", "reflect"})
    for (bool isBehind : {true, false}) {
      SymbolicCase windows{fmt::format("PaddingToWindows{}By_{}", isBehind ? "Behind" : "InFront", mode),
                           TinyModel(),
                           {{{2, 5}}, {{1, 8}}, {{3, 15}}},
                           {}};
      TinyModel &w = windows.model.input("x", {"n", "w"}).output("y");
      w.integers("none", {1}, {0}), w.integers("one", {1}, {1}), w.integers("four", {1}, {4});
      setAttribute(w.node("Shape", {"x"}, {"size"}), "start", int64_t(1));
      if (isBehind) // 3 for 5, as -5 modulo 4
        w.node("Neg", {"size"}, {"minus"}), w.node("Mod", {"minus", "four"}, {"missing"});
      else
        w.node("Mod", {"size", "four"}, {"over"}), w.node("Sub", {"four", "over"}, {"missing"});
      withAxis(isBehind ? w.node("Concat", {"none", "none", "none", "missing"}, {"pads"})
                        : w.node("Concat", {"none", "missing", "none", "none"}, {"pads"}),
               0);
      setAttribute(w.node("Pad", {"x", "pads"}, {"padded"}), "mode", mode);
      w.node("Relu", {"padded"}, {"y"});
      list.push_back(std::move(windows));
    }
  return list;
}

/// Convolutions of bytes whose padding is a zero point known only at run time: a single window, groups, and an image of
/// one row.
std::vector<SymbolicCase> bytes() {
  std::vector<SymbolicCase> list;
  for (bool isSigned : {true, false})
    for (int groups : {1, 2}) {
      SymbolicCase padded{fmt::format("{}BytesOf{}GroupsWithABorder", isSigned ? "Signed" : "Unsigned", groups),
                          TinyModel(),
                          {{{1, 32, 7, 8}}, {{2, 32, 1, 5}}, {{1, 32, 6, 1}}}};
      TinyModel &m = padded.model.input("x", {"n", 32, "h", "w"}).output("y");
      onnx::TensorProto *weights = m.initializer("weights", {6, 32 / groups, 3, 2}, isSigned ? DType::I8 : DType::U8);
      for (int i = 0; i < 6 * 32 / groups * 3 * 2; ++i)
        weights->add_int32_data(i * 37 % 251 - (isSigned ? 125 : 0));
      m.initializer("weights' zero", {}, isSigned ? DType::I8 : DType::U8)->add_int32_data(isSigned ? -3 : 119);
      m.node("DynamicQuantizeLinear", {"x"}, {"bytes", "scale", "zero"});
      onnx::NodeProto *conv = m.node("ConvInteger", {"bytes", "weights", "zero", "weights' zero"}, {"sums"});
      setAttribute(conv, "pads", std::vector<int64_t>{1, 1, 2, 0});
      setAttribute(conv, "strides", std::vector<int64_t>{2, 1});
      setAttribute(conv, "group", static_cast<int64_t>(groups));
      setAttribute(m.node("Cast", {"sums"}, {"y"}), "to", static_cast<int64_t>(DType::F32));
      list.push_back(std::move(padded));
    }
  return list;
}

/// Reference operators whose result's rank a trial run with small sizes cannot determine.
std::vector<SymbolicCase> untried() {
  std::vector<SymbolicCase> list;
  SymbolicCase scatter{
      "ScatterOfSizesThatMustFit", TinyModel(), {{{4, 2}, {1, 1}, {1, 1}}, {{6, 3}, {1, 1}, {1, 1}}}, {}};
  TinyModel &s = scatter.model.input("x", {"n", "m"}).input("i", {"k", 1}).input("u", {"l", 1}).output("y");
  s.floats("zero", {}, {0}), s.node("Mul", {"i", "zero"}, {"still"});
  setAttribute(s.node("Cast", {"still"}, {"index"}), "to", static_cast<int64_t>(DType::I64));
  s.node("ScatterElements", {"x", "index", "u"}, {"scattered"}), s.node("Neg", {"scattered"}, {"y"});
  list.push_back(std::move(scatter));
  SymbolicCase scales{"ScalesThatOnlyRunningTells", TinyModel(), {{{1, 2, 3, 4}, {4}}, {{1, 2, 5, 6}, {4}}}, {}};
  TinyModel &r = scales.model.input("x", {1, 2, "h", "w"}).input("s", {4}).output("y");
  r.floats("zero", {}, {0}), r.floats("two", {4}, {1, 1, 2, 2}), r.node("Mul", {"s", "zero"}, {"still"});
  r.node("Add", {"still", "two"}, {"scales"}), r.node("Resize", {"x", "", "scales"}, {"large"}),
      r.node("Neg", {"large"}, {"y"});
  list.push_back(std::move(scales));
  return list;
}

std::vector<SymbolicCase> slices() {
  std::vector<SymbolicCase> list;
  struct Bounds {
    const char *name;
    int64_t start, end, step;
  };
  for (auto [name, start, end, step] :
       {Bounds{"SliceOfTwo", 0, 2, 1}, {"SliceOfTheLastTwo", -2, INT64_MAX, 1}, {"SliceWithoutEnds", 2, -2, 2}}) {
    SymbolicCase slice{name, TinyModel(), {{{1, 3}}, {{2, 3}}, {{3, 3}}, {{9, 3}}}};
    slice.model.input("x", {"n", 3}).output("y");
    slice.model.integers("start", {1}, {start}), slice.model.integers("end", {1}, {end});
    slice.model.integers("axis", {1}, {0}), slice.model.integers("step", {1}, {step});
    slice.model.node("Slice", {"x", "start", "end", "axis", "step"}, {"a"});
    slice.model.node("Relu", {"a"}, {"y"});
    list.push_back(std::move(slice));
  }
  // A slice as long as another input, of a table that may be shorter.
  SymbolicCase table{"SliceOfSoManyAsThereAre", TinyModel(), {{{1, 4}, {3, 4}}, {{3, 4}, {3, 4}}, {{5, 4}, {3, 4}}}};
  table.model.input("x", {"n", 4}).input("t", {"m", 4}).output("y").integers("zero", {1}, {0});
  setAttribute(table.model.node("Shape", {"x"}, {"count"}), "end", int64_t(1));
  table.model.node("Slice", {"t", "zero", "count", "zero"}, {"a"});
  table.model.node("Neg", {"a"}, {"y"});
  list.push_back(std::move(table));
  // As many of the last ones as another input has: positions that are counted from the end.
  SymbolicCase last{"SliceFromMinusASize", TinyModel(), {{{2, 3}}, {{1, 1}}, {{2, 5}}}, {{{1, 6}}}};
  last.model.input("x", {"n", "s"}).output("y").floats("t", {1, 5}, {1, 2, 3, 4, 5});
  last.model.integers("one", {1}, {1}), last.model.integers("end", {1}, {INT64_MAX});
  last.model.integers("minus", {1}, {-1});
  setAttribute(last.model.node("Shape", {"x"}, {"count"}), "start", int64_t(1));
  last.model.node("Mul", {"count", "minus"}, {"first"});
  last.model.node("Slice", {"t", "first", "end", "one"}, {"a"});
  last.model.node("Add", {"x", "a"}, {"y"});
  list.push_back(std::move(last));
  // From the end by as many as elements of another input are not 0, which may be none.
  SymbolicCase found{"SliceFromMinusWhatIsFound", TinyModel(), {{{5}, {3}}, {{4}, {0}}}};
  found.model.input("x", {"n"}).input("z", {"m"}).output("y").integers("none", {1}, {0});
  found.model.integers("minus", {1}, {-1}), found.model.integers("end", {1}, {INT64_MAX});
  found.model.node("NonZero", {"z"}, {"which"});
  setAttribute(found.model.node("Shape", {"which"}, {"count"}), "start", int64_t(1));
  found.model.node("Mul", {"count", "minus"}, {"first"});
  found.model.node("Slice", {"x", "first", "end", "none"}, {"a"});
  found.model.node("Neg", {"a"}, {"y"});
  list.push_back(std::move(found));
  return list;
}

std::vector<SymbolicCase> reshapes() {
  std::vector<SymbolicCase> list;
  auto add = [&](const std::string &name, std::vector<Dim> dims, std::vector<int64_t> shape,
                 std::vector<std::vector<Shape>> runs, std::vector<std::vector<Shape>> refused) -> TinyModel & {
    list.push_back({name, TinyModel(), std::move(runs), std::move(refused)});
    list.back()
        .model.input("x", std::move(dims))
        .output("y")
        .integers("shape", {static_cast<int64_t>(shape.size())}, shape);
    list.back().model.node("Reshape", {"x", "shape"}, {"r"});
    return list.back().model;
  };
  add("RowsOfWhatTwoSizesHave", {"b", "n"}, {-1, 16}, {{{16, 1}}, {{4, 8}}, {{2, 24}}, {{0, 7}}}, {{{3, 5}}})
      .node("Relu", {"r"}, {"y"});
  add("ColumnsOfWhatTwoSizesHave", {"b", "n"}, {4, -1}, {{{4, 1}}, {{2, 6}}, {{8, 9}}}, {{{3, 5}}})
      .node("Relu", {"r"}, {"y"});
  TinyModel &product = add("RowsOfOneSizeIntoAProduct", {"n"}, {-1, 4}, {{{4}}, {{12}}, {{400}}}, {{{5}}});
  product.floats("w", {4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  product.node("MatMul", {"r", "w"}, {"y"});
  TinyModel &behind =
      add("RowsOfAProduct", {"b", "n", 2}, {-1, 8}, {{{4, 4, 2}}, {{12, 2, 2}}, {{8, 1, 2}}}, {{{3, 5, 2}}});
  behind.proto.mutable_graph()->mutable_node(0)->set_input(0, "product");
  behind.floats("w", {2, 6}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  behind.node("MatMul", {"x", "w"}, {"product"});
  behind.node("Relu", {"r"}, {"y"});
  // Windows of 4 x 4, as in a vision transformer.
  SymbolicCase cut{
      "WindowsOfAnImage", TinyModel(), {{{1, 8, 8, 2}}, {{2, 4, 12, 2}}, {{1, 16, 4, 2}}}, {{{1, 6, 8, 2}}}};
  TinyModel &m = cut.model;
  m.input("x", {"n", "h", "w", 2}).output("y").integers("four", {1}, {4});
  m.integers("two", {1}, {2}), m.integers("i0", {1}, {0}), m.integers("i1", {1}, {1}), m.integers("i2", {1}, {2});
  m.integers("rows", {3}, {-1, 16, 2});
  m.node("Shape", {"x"}, {"s"});
  m.node("Gather", {"s", "i0"}, {"n"}), m.node("Gather", {"s", "i1"}, {"h"}), m.node("Gather", {"s", "i2"}, {"w"});
  m.node("Div", {"h", "four"}, {"h4"}), m.node("Div", {"w", "four"}, {"w4"});
  withAxis(m.node("Concat", {"n", "h4", "four", "w4", "four", "two"}, {"split"}), 0);
  m.node("Reshape", {"x", "split"}, {"a"});
  setAttribute(m.node("Transpose", {"a"}, {"b"}), "perm", std::vector<int64_t>{0, 1, 3, 2, 4, 5});
  m.node("Reshape", {"b", "rows"}, {"c"});
  m.node("Relu", {"c"}, {"y"});
  list.push_back(std::move(cut));
  return list;
}

std::vector<SymbolicCase> broadcasts() {
  std::vector<SymbolicCase> list;
  SymbolicCase two{"EitherOfTwoMayBeOne",
                   TinyModel(),
                   {{{3, 4}, {3, 4}}, {{1, 4}, {3, 4}}, {{3, 4}, {1, 4}}, {{1, 4}, {1, 4}}},
                   {{{2, 4}, {3, 4}}}};
  two.model.input("x", {"n", 4}).input("z", {"m", 4}).output("y");
  two.model.node("Add", {"x", "z"}, {"a"});
  two.model.node("Relu", {"a"}, {"y"});
  list.push_back(std::move(two));
  SymbolicCase product{
      "BatchesOfAProduct", TinyModel(), {{{3, 5, 4}, {3, 4, 6}}, {{1, 5, 4}, {3, 4, 6}}, {{3, 5, 4}, {1, 4, 6}}}};
  product.model.input("x", {"n", 5, 4}).input("z", {"m", 4, 6}).output("y");
  product.model.node("MatMul", {"x", "z"}, {"a"});
  product.model.node("Relu", {"a"}, {"y"});
  list.push_back(std::move(product));
  SymbolicCase number{"ASymbolBesideANumber", TinyModel(), {{{3, 4}}, {{1, 4}}}, {{{2, 4}}}};
  number.model.input("x", {"n", 4}).output("y").floats("w", {3, 1}, {1, 2, 3});
  number.model.node("Mul", {"x", "w"}, {"y"});
  list.push_back(std::move(number));
  // States of size 1, of which one dimension meets a size that only data tells, as a recurrent network's first.
  SymbolicCase state{"AStateBesideWhatIsFound", TinyModel(), {{{2, 3}, {2, 6}}, {{2, 3}, {1, 1}}, {{2, 3}, {1, 6}}}};
  state.model.input("x", {"n", 3}).input("r", {"p", "q"}).output("y");
  state.model.node("NonZero", {"x"}, {"found"});
  setAttribute(state.model.node("Cast", {"found"}, {"a"}), "to", int64_t(1));
  state.model.node("Add", {"a", "r"}, {"y"});
  list.push_back(std::move(state));
  // Both inputs call their columns 'c', though one has 3 and the other 5.
  SymbolicCase names{"NamesThatContradict", TinyModel(), {{{3, 3}, {3, 5}}, {{1, 3}, {3, 5}}, {{3, 3}, {1, 5}}}};
  names.model.input("x", {"n", "c"}).input("z", {"n", "c"}).output("y");
  names.model.floats("v", {3, 1}, {1, 10, 100}), names.model.floats("w", {5, 1}, {1, 1, 1, 1, 1});
  names.model.node("MatMul", {"x", "v"}, {"a"}), names.model.node("MatMul", {"z", "w"}, {"b"});
  names.model.node("Add", {"a", "b"}, {"y"});
  list.push_back(std::move(names));
  return list;
}

std::vector<SymbolicCase> others() {
  std::vector<SymbolicCase> list;
  SymbolicCase split{"SplitInTwo", TinyModel(13), {{{2, 3}}, {{10, 3}}}, {{{5, 3}}}};
  split.model.input("x", {"n", 3}).output("y").output("z").node("Split", {"x"}, {"y", "z"});
  list.push_back(std::move(split));
  SymbolicCase space{"SpaceToDepth", TinyModel(), {{{1, 2, 4, 4}}, {{2, 2, 2, 6}}}, {{{1, 2, 3, 4}}}};
  space.model.input("x", {"n", 2, "h", "w"}).output("y");
  setAttribute(space.model.node("SpaceToDepth", {"x"}, {"y"}), "blocksize", int64_t(2));
  list.push_back(std::move(space));
  SymbolicCase depth{"DepthToSpace", TinyModel(), {{{1, 4, 3, 5}}, {{1, 8, 2, 2}}}, {{{1, 6, 2, 2}}}};
  depth.model.input("x", {"n", "c", "h", "w"}).output("y");
  setAttribute(depth.model.node("DepthToSpace", {"x"}, {"y"}), "blocksize", int64_t(2));
  list.push_back(std::move(depth));
  // The model declares the rank; Squeeze without axes may drop any size.
  for (int rank : {0, 1}) {
    SymbolicCase squeeze{rank ? "SqueezeOfWhatIsNotOne" : "SqueezeToAScalar", TinyModel(13), {}, {}};
    squeeze.runs = rank ? std::vector<std::vector<Shape>>{{{5}}, {{2}}} : std::vector<std::vector<Shape>>{{{1}}};
    squeeze.model.input("x", {"n"});
    TinyModel::describe(squeeze.model.proto.mutable_graph()->add_output(), "y",
                        rank ? std::vector<Dim>{"n"} : std::vector<Dim>{}, DType::F32);
    squeeze.model.node("Squeeze", {"x"}, {"a"});
    squeeze.model.node("Relu", {"a"}, {"y"});
    TinyModel::describe(squeeze.model.proto.mutable_graph()->add_value_info(), "a",
                        rank ? std::vector<Dim>{"n"} : std::vector<Dim>{}, DType::F32);
    list.push_back(std::move(squeeze));
  }
  // Integers along a length that is two sizes are cumulated in blocks, whose last is not full.
  SymbolicCase cumulated{"IntegersAlongTwoSizes", TinyModel(18), {{{1, 1}}, {{3, 5}}, {{4, 8}}, {{40, 41}}}, {}};
  TinyModel &c = cumulated.model.input("x", {"h", "w"}).output("y");
  c.integers("flat", {1}, {-1}), c.integers("axis", {1}, {0});
  c.floats("level", {}, {0.1f}), c.node("Greater", {"x", "level"}, {"above"});
  setAttribute(c.node("Cast", {"above"}, {"whole"}), "to", static_cast<int64_t>(DType::I64));
  c.node("Reshape", {"whole", "flat"}, {"row"});
  c.node("CumSum", {"row", "axis"}, {"sums"});
  setAttribute(c.node("Cast", {"sums"}, {"y"}), "to", static_cast<int64_t>(DType::F32));
  list.push_back(std::move(cumulated));
  return list;
}

/// Anchors of two feature maps: a range of floats as long as the maps have elements, which is known only at run time.
SymbolicCase grid() {
  SymbolicCase detection{"AGridOfAnchors", TinyModel(), {{{1, 2, 8, 8}}, {{1, 2, 6, 10}}, {{1, 2, 7, 9}}}};
  TinyModel &m = detection.model;
  m.input("x", {"n", 2, "h", "w"}).output("y");
  m.floats("zero", {}, {0}), m.floats("one", {}, {1}), m.integers("flat", {3}, {0, 2, -1});
  m.integers("two", {}, {2}), m.integers("three", {}, {3});
  for (std::string map : {"a", "b"}) {
    pool(m, map, map == "a" ? 3 : 5, map == "a" ? 2 : 4, map == "a" ? 1 : 2, false);
    m.node("Reshape", {map, "flat"}, {map + "Flat"});
    m.node("Shape", {map}, {map + "Shape"});
    m.node("Gather", {map + "Shape", "two"}, {map + "H"}), m.node("Gather", {map + "Shape", "three"}, {map + "W"});
    m.node("Mul", {map + "H", map + "W"}, {map + "Count"});
    setAttribute(m.node("Cast", {map + "Count"}, {map + "Real"}), "to", static_cast<int64_t>(DType::F32));
    m.node("Range", {"zero", map + "Real", "one"}, {map + "Grid"});
  }
  withAxis(m.node("Concat", {"aFlat", "bFlat"}, {"features"}), 2);
  withAxis(m.node("Concat", {"aGrid", "bGrid"}, {"anchors"}), 0);
  m.node("Add", {"features", "anchors"}, {"y"});
  return detection;
}

/// Loops without an iteration, with known and unknown sizes.
std::vector<SymbolicCase> nothing() {
  std::vector<SymbolicCase> list;
  for (std::string op : {"ReduceMax", "ReduceSum", "ReduceProd", "GlobalMaxPool"}) {
    bool isPool = op == "GlobalMaxPool";
    Shape shape = isPool ? Shape{1, 2, 0, 3} : Shape{2, 0};
    SymbolicCase none{op + "OfNothing", TinyModel(), {{shape}}};
    none.model.input("x", isPool ? std::vector<Dim>{1, 2, 0, 3} : std::vector<Dim>{2, 0}).output("y");
    onnx::NodeProto *node = none.model.node(op, {"x"}, {"y"});
    if (op != "GlobalMaxPool" && op != "ReduceSum")
      setAttribute(node, "axes", std::vector<int64_t>{1});
    list.push_back(std::move(none));
  }
  SymbolicCase product{"AProductOverNothing", TinyModel(), {{{2, 0}, {0, 3}}, {{2, 4}, {4, 3}}, {{0, 4}, {4, 3}}}};
  product.model.input("x", {"m", "k"}).input("z", {"k", "n"}).output("y").node("MatMul", {"x", "z"}, {"y"});
  list.push_back(std::move(product));
  return list;
}

/// Register tiles cover any number of rows, and a program has 96: what is left over is computed in a lower one or,
/// where weights are large, with the last whole one.
SymbolicCase anyNumberOfRows(const std::string &name, int64_t depth, int64_t columns) {
  SymbolicCase product{name, TinyModel(), {}};
  for (int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 19, 95, 96, 97, 103})
    product.runs.push_back({{rows, depth}});
  TinyModel &m = product.model.input("x", {"n", static_cast<int>(depth)}).output("stored").output("y");
  std::vector<float> weights(depth * columns);
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<float>(i * 7 % 23) / 16 - 0.5f;
  m.floats("w", {depth, columns}, weights);
  m.node("MatMul", {"x", "w"}, {"stored"});
  m.node("Neg", {"x"}, {"minus"}), m.node("MatMul", {"minus", "w"}, {"product"}), m.node("Tanh", {"product"}, {"y"});
  return product;
}

/// p is the largest of each two columns of x, or of overlapping windows of more.
void halved(TinyModel &model, int64_t kernel = 2) {
  onnx::NodeProto *node = model.node("MaxPool", {"x"}, {"p"});
  setAttribute(node, "kernel_shape", std::vector<int64_t>{kernel});
  setAttribute(node, "strides", std::vector<int64_t>{2});
}

/// Lengths behind windows as exporters compute them: with quotients, which may be 0, and with a difference divided.
std::vector<SymbolicCase> quotients() {
  std::vector<SymbolicCase> list;
  SymbolicCase tiled{"TilesByAQuotientOfAQuotient", TinyModel(18), {{{2, 1, 16}}, {{1, 1, 48}}}, {{{1, 1, 40}}}};
  TinyModel &t = tiled.model.input("x", {"b", 1, "w"}).output("y");
  halved(t);
  t.integers("eight", {1}, {8}), t.integers("one", {1}, {1}), t.floats("tile", {1, 1, 8}, {1, 2, 3, 4, 5, 6, 7, 8});
  setAttribute(t.node("Shape", {"p"}, {"n"}), "start", int64_t(2));
  t.node("Div", {"n", "eight"}, {"times"}), withAxis(t.node("Concat", {"one", "one", "times"}, {"repeats"}), 0);
  t.node("Tile", {"tile", "repeats"}, {"tiles"}), t.node("Add", {"p", "tiles"}, {"y"});
  list.push_back(std::move(tiled));
  // mask.expand(b, -1, n, n), of which TorchScript asks where it is -1.
  SymbolicCase expanded{"ExpandsBesideAQuotient", TinyModel(18), {{{2, 1, 4}}, {{1, 1, 9}}, {{3, 1, 2}}}, {}};
  TinyModel &e = expanded.model.input("x", {"b", 1, "w"}).output("y");
  halved(e);
  e.integers("open", {1}, {-1}), e.integers("one", {1}, {1});
  setAttribute(e.node("Shape", {"p"}, {"b"}), "end", int64_t(1));
  setAttribute(e.node("Shape", {"p"}, {"n"}), "start", int64_t(2));
  withAxis(e.node("Concat", {"b", "open", "n", "n"}, {"shape"}), 0);
  e.node("Equal", {"shape", "open"}, {"isOpen"}), e.node("Where", {"isOpen", "one", "shape"}, {"sizes"});
  e.node("Unsqueeze", {"p", "one"}, {"rows"}), e.node("Expand", {"rows", "sizes"}, {"square"});
  setAttribute(e.node("Transpose", {"rows"}, {"columns"}), "perm", std::vector<int64_t>{0, 1, 3, 2});
  e.node("Add", {"square", "columns"}, {"y"});
  list.push_back(std::move(expanded));
  // Filled up to whole windows of four, which are computed on, and back to w.
  SymbolicCase filled{"WindowsThatAreFilledUp", TinyModel(18), {{{2, 5}}, {{1, 8}}, {{3, 3}}}, {}};
  TinyModel &f = filled.model.input("x", {"b", "w"}).output("y");
  f.integers("four", {1}, {4}), f.integers("none", {1}, {0}), f.integers("one", {1}, {1});
  f.integers("windows", {3}, {0, -1, 4}), f.integers("rows", {2}, {0, -1});
  setAttribute(f.node("Shape", {"x"}, {"w"}), "start", int64_t(1));
  f.node("Mod", {"w", "four"}, {"over"}), f.node("Sub", {"four", "over"}, {"some"});
  f.node("Mod", {"some", "four"}, {"missing"});
  withAxis(f.node("Concat", {"none", "none", "none", "missing"}, {"pads"}), 0);
  f.node("Pad", {"x", "pads"}, {"p"}), f.node("Reshape", {"p", "windows"}, {"v"});
  withAxis(f.node("Softmax", {"v"}, {"s"}), 2), f.node("Reshape", {"s", "rows"}, {"r"});
  f.node("Slice", {"r", "none", "w", "one"}, {"cut"}), f.node("Add", {"x", "cut"}, {"y"});
  list.push_back(std::move(filled));
  SymbolicCase positions{"PositionsOfADifferenceDivided", TinyModel(18), {{{2, 1, 13}}, {{1, 1, 3}}}, {{{1, 1, 2}}}};
  TinyModel &d = positions.model.input("x", {"b", 1, "w"}).output("y");
  halved(d, 3);
  d.integers("two", {}, {2}), d.integers("three", {}, {3}), d.integers("one", {}, {1}), d.integers("zero", {}, {0});
  d.integers("last", {}, {2}), d.node("Shape", {"x"}, {"sizes"}), d.node("Gather", {"sizes", "last"}, {"w"});
  d.node("Sub", {"w", "three"}, {"room"}), d.node("Div", {"room", "two"}, {"steps"});
  d.node("Add", {"steps", "one"}, {"n"}), d.node("Range", {"zero", "n", "one"}, {"range"});
  setAttribute(d.node("Cast", {"range"}, {"positions"}), "to", static_cast<int64_t>(DType::F32));
  d.node("Add", {"p", "positions"}, {"y"});
  list.push_back(std::move(positions));
  return list;
}

std::vector<SymbolicCase> cases() {
  std::vector<SymbolicCase> list{grid(), anyNumberOfRows("RowsOfSmallWeights", 12, 72),
                                 anyNumberOfRows("RowsOfLargeWeights", 256, 1032)};
  for (auto part : {windows(), paddings(), bytes(), untried(), slices(), reshapes(), quotients(), broadcasts(),
                    others(), nothing()})
    std::ranges::move(part, std::back_inserter(list));
  return list;
}

INSTANTIATE_TEST_SUITE_P(Models, SymbolicSizes, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.name; });

} // namespace
