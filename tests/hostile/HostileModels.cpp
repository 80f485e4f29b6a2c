// SPDX-License-Identifier: Apache-2.0
// Rows by what is malformed: the model, its graph, functions or weights, or the sizes that its nodes request.
#include "tests/hostile/HostileModels.h"

#include "tests/frontend/TinyModel.h"

#include <fmt/format.h>
#include <limits>

namespace tilewright::test {

using onnx::ModelProto;
using onnx::TensorProto;

ModelProto reluModel() {
  TinyModel model;
  model.input("x", {2, 3}).output("y").node("Relu", {"x"}, {"y"});
  return model.proto;
}

TensorProto floatTensor(const std::string &name, std::vector<int64_t> dims, int64_t count) {
  TensorProto tensor;
  tensor.set_name(name), tensor.set_data_type(TensorProto::FLOAT);
  int64_t product = 1;
  for (int64_t dim : dims)
    tensor.add_dims(dim), product = count < 0 ? product * dim : product;
  for (int64_t i = 0; i < (count < 0 ? product : count); ++i)
    tensor.add_float_data(0);
  return tensor;
}

ModelProto externalDataModel(const std::string &location, const std::string &offset, const std::string &length) {
  TinyModel model;
  model.input("x", {2}).output("y").node("Add", {"x", "w"}, {"y"});
  TensorProto *weight = model.initializer("w", {2}, DType::F32);
  weight->set_data_location(TensorProto::EXTERNAL);
  for (const auto &[key, value] :
       {std::pair("location", location), std::pair("offset", offset), std::pair("length", length)}) {
    auto *entry = weight->add_external_data();
    entry->set_key(key), entry->set_value(value);
  }
  return model.proto;
}

namespace {

constexpr int64_t huge = int64_t(1) << 40, largest = std::numeric_limits<int64_t>::max(),
                  least = std::numeric_limits<int64_t>::min();

using Rows = std::vector<HostileModel>;

void add(Rows &rows, std::string what, std::function<void(ModelProto &)> spoil) {
  rows.push_back({std::move(what), [spoil = std::move(spoil)] {
                    ModelProto model = reluModel();
                    spoil(model);
                    return model;
                  }});
}

onnx::NodeProto &node(ModelProto &model, int i = 0) { return *model.mutable_graph()->mutable_node(i); }

void addEnvelopes(Rows &rows) {
  add(rows, "no graph", [](ModelProto &m) { m.clear_graph(); });
  add(rows, "no opset", [](ModelProto &m) { m.clear_opset_import(); });
  add(rows, "the compiler's own operators", [](ModelProto &m) {
    auto *import = m.add_opset_import();
    import->set_domain("tilewright"), import->set_version(1);
    node(m).set_domain("tilewright"), node(m).set_op_type("StackSteps");
  });
  add(rows, "a sparse weight of 2^60 elements", [](ModelProto &m) {
    auto *sparse = m.mutable_graph()->add_sparse_initializer();
    *sparse->mutable_values() = floatTensor("s", {0}, 0);
    sparse->add_dims(int64_t(1) << 30), sparse->add_dims(int64_t(1) << 30);
  });
  add(rows, "a sparse weight of a gigabyte more than is supported", [](ModelProto &m) {
    auto *sparse = m.mutable_graph()->add_sparse_initializer();
    *sparse->mutable_values() = floatTensor("s", {0}, 0);
    sparse->add_dims(int64_t(1) << 29);
  });
  add(rows, "a sparse weight with an element outside", [](ModelProto &m) {
    auto *sparse = m.mutable_graph()->add_sparse_initializer();
    *sparse->mutable_values() = floatTensor("s", {1}, 1);
    sparse->mutable_indices()->set_data_type(TensorProto::INT64), sparse->mutable_indices()->add_dims(1);
    sparse->mutable_indices()->add_int64_data(least);
    sparse->add_dims(4);
  });
  add(rows, "opset 0", [](ModelProto &m) { m.mutable_opset_import(0)->set_version(0); });
  add(rows, "opset -1", [](ModelProto &m) { m.mutable_opset_import(0)->set_version(-1); });
  add(rows, "IR version 10^9", [](ModelProto &m) { m.set_ir_version(1000000000); });
  add(rows, "IR version -1", [](ModelProto &m) { m.set_ir_version(-1); });
}

void addGraphs(Rows &rows) {
  add(rows, "no outputs", [](ModelProto &m) { m.mutable_graph()->clear_output(); });
  add(rows, "an output that nobody makes",
      [](ModelProto &m) { m.mutable_graph()->mutable_output(0)->set_name("absent"); });
  add(rows, "an input that nobody makes", [](ModelProto &m) { node(m).set_input(0, "absent"); });
  add(rows, "a node that reads itself", [](ModelProto &m) { node(m).set_input(0, "y"); });
  add(rows, "a circle of two", [](ModelProto &m) {
    node(m).set_input(0, "z");
    TinyModel::fill(m.mutable_graph()->add_node(), "Relu", {"y"}, {"z"});
  });
  add(rows, "a circle of a thousand", [](ModelProto &m) {
    for (int i = 0; i < 1000; ++i)
      TinyModel::fill(m.mutable_graph()->add_node(), "Relu", {fmt::format("v{}", i)},
                      {fmt::format("v{}", (i + 1) % 1000)});
    node(m).set_input(0, "v0");
  });
  add(rows, "a value made twice",
      [](ModelProto &m) { TinyModel::fill(m.mutable_graph()->add_node(), "Relu", {"x"}, {"y"}); });
  add(rows, "an input made by a node", [](ModelProto &m) { node(m).set_output(0, "x"); });
  add(rows, "two inputs of a name", [](ModelProto &m) { *m.mutable_graph()->add_input() = m.graph().input(0); });
  add(rows, "no operator", [](ModelProto &m) { node(m).clear_op_type(); });
  add(rows, "an unknown operator", [](ModelProto &m) { node(m).set_op_type("Soup"); });
  add(rows, "an operator with a name of a megabyte",
      [](ModelProto &m) { node(m).set_op_type(std::string(1 << 20, 'S')); });
  add(rows, "an unknown domain", [](ModelProto &m) { node(m).set_domain("soup"); });
  add(rows, "an input without a type", [](ModelProto &m) { m.mutable_graph()->mutable_input(0)->clear_type(); });
  add(rows, "an input of type 0", [](ModelProto &m) {
    m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(0);
  });
  add(rows, "an input of type 1000", [](ModelProto &m) {
    m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(1000);
  });
  add(rows, "an input of 2^62 elements squared", [](ModelProto &m) {
    auto *shape = m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->mutable_dim(0)->set_dim_value(int64_t(1) << 62), shape->mutable_dim(1)->set_dim_value(int64_t(1) << 62);
  });
  add(rows, "an attribute twice",
      [](ModelProto &m) { setAttribute(&node(m), "a", int64_t(1)), setAttribute(&node(m), "a", int64_t(1)); });
  add(rows, "an attribute that refers to none", [](ModelProto &m) {
    node(m).set_op_type("Softmax");
    setAttribute(&node(m), "axis", std::string("one"));
  });
}

/// A chain of functions, each of which calls the next twice.
void addFunctions(Rows &rows) {
  auto addFunction = [](ModelProto &m, const std::string &name, std::vector<std::string> calls) {
    onnx::FunctionProto *function = m.add_functions();
    function->set_name(name), function->set_domain("local"), function->add_input("a"), function->add_output("b");
    function->add_opset_import()->set_domain("local"), function->mutable_opset_import(0)->set_version(1);
    std::string value = "a";
    for (size_t i = 0; i < calls.size(); ++i) {
      std::string next = i + 1 == calls.size() ? "b" : fmt::format("t{}", i);
      TinyModel::fill(function->add_node(), calls[i], {value}, {next})->set_domain("local");
      value = next;
    }
  };
  auto use = [](ModelProto &m, const std::string &name) {
    node(m).set_op_type(name), node(m).set_domain("local");
    auto *import = m.add_opset_import();
    import->set_domain("local"), import->set_version(1);
  };
  add(rows, "a function that calls itself", [=](ModelProto &m) { use(m, "F"), addFunction(m, "F", {"F"}); });
  add(rows, "functions that call each other",
      [=](ModelProto &m) { use(m, "F"), addFunction(m, "F", {"G"}), addFunction(m, "G", {"F"}); });
  add(rows, "functions that double forty times", [=](ModelProto &m) {
    use(m, "F0");
    for (int i = 0; i < 40; ++i)
      addFunction(m, fmt::format("F{}", i), {fmt::format("F{}", i + 1), fmt::format("F{}", i + 1)});
    addFunction(m, "F40", {"F41"});
  });
  add(rows, "a function without nodes", [=](ModelProto &m) { use(m, "F"), addFunction(m, "F", {}); });
  add(rows, "a function with too many inputs", [=](ModelProto &m) {
    use(m, "F"), addFunction(m, "F", {"Relu"});
    node(m).add_input("x"), node(m).add_input("x");
  });
}

void addWeights(Rows &rows) {
  auto weight = [&](std::string what, std::function<void(TensorProto &)> spoil) {
    add(rows, "a weight " + what, [spoil = std::move(spoil)](ModelProto &m) {
      node(m).set_op_type("Add"), node(m).add_input("w");
      TensorProto tensor = floatTensor("w", {2, 3});
      spoil(tensor);
      *m.mutable_graph()->add_initializer() = tensor;
    });
  };
  weight("of a negative size", [](TensorProto &t) { t.set_dims(0, -2); });
  weight("of too few numbers", [](TensorProto &t) { t.mutable_float_data()->RemoveLast(); });
  weight("of too many numbers", [](TensorProto &t) { t.add_float_data(0); });
  weight("of no numbers", [](TensorProto &t) { t.clear_float_data(); });
  weight("of 2^62 elements squared",
         [](TensorProto &t) { t.set_dims(0, int64_t(1) << 62), t.set_dims(1, int64_t(1) << 62); });
  weight("of 2^40 elements", [](TensorProto &t) { t.set_dims(0, huge); });
  weight("given twice", [](TensorProto &t) { t.set_raw_data(std::string(24, '\0')); });
  weight("in the wrong field", [](TensorProto &t) { t.clear_float_data(), t.add_int64_data(1); });
  weight("of type 0", [](TensorProto &t) { t.set_data_type(0); });
  weight("of type 1000", [](TensorProto &t) { t.set_data_type(1000); });
  weight("of raw strings",
         [](TensorProto &t) { t.set_data_type(TensorProto::STRING), t.clear_float_data(), t.set_raw_data("abc"); });
  weight("of rank 5,000", [](TensorProto &t) {
    for (int i = 0; i < 5000; ++i)
      t.add_dims(2);
  });
  weight("elsewhere, nobody says where",
         [](TensorProto &t) { t.clear_float_data(), t.set_data_location(TensorProto::EXTERNAL); });
}

/// A node `op` on x and integer constants that requests an impossible size.
struct Bomb {
  std::string what, op;
  std::vector<std::vector<int64_t>> constants;
  std::vector<std::pair<std::string, std::vector<int64_t>>> attributes = {}; // a name that ends with '*' is a list
};

const Bomb bombs[] = {
    {"to 2^80", "ConstantOfShape", {{huge, huge}}},
    {"to 2^60", "ConstantOfShape", {{huge, 1 << 20}}},
    {"to a negative size", "ConstantOfShape", {{-1}}},
    {"to 2^80", "Expand", {{huge, huge, 1, 1}}},
    {"to a negative size", "Expand", {{-5, 3}}},
    {"2^40 times", "Tile", {{huge, huge}}},
    {"a negative number of times", "Tile", {{-1, 1}}},
    {"once in one dimension", "Tile", {{1}}},
    {"to 2^63 - 1", "Range", {{0}, {largest}, {1}}},
    {"by steps of 0", "Range", {{0}, {10}, {0}}},
    {"by 2^62 on both sides", "Pad", {{int64_t(1) << 62, 0, int64_t(1) << 62, 0}}},
    {"away more than there is", "Pad", {{-5, 0, 0, 0}}},
    {"by three numbers", "Pad", {{1, 1, 1}}},
    {"to -1 and -1", "Reshape", {{-1, -1}}},
    {"to another number of elements", "Reshape", {{7}}},
    {"to -2", "Reshape", {{-2, 3}}},
    {"that overflows", "Reshape", {{huge, huge}}},
    {"by steps of 0", "Slice", {{0}, {2}, {0}, {0}}},
    {"of axis 7", "Slice", {{0}, {2}, {7}, {1}}},
    {"of two starts and one end", "Slice", {{0, 0}, {2}}},
    {"by 0 and 0", "Transpose", {}, {{"perm*", {0, 0}}}},
    {"by 5 and 1", "Transpose", {}, {{"perm*", {5, 1}}}},
    {"of axis 2^63 - 1", "Softmax", {}, {{"axis", {largest}}}},
    {"of axis -2^63", "Flatten", {}, {{"axis", {least}}}},
    {"of axis -2^63", "Gather", {{0}}, {{"axis", {least}}}},
    {"of index 9", "Gather", {{9}}},
    {"into parts of 1 and 9", "Split", {{1, 9}}},
    {"of axis 9", "Unsqueeze", {{9}}},
    {"of a size of 3", "Squeeze", {{1}}},
    {"of the first -1", "TopK", {{-1}}},
    {"of the first 100", "TopK", {{100}}},
    {"of a matrix by windows of 2^40", "MaxPool", {}, {{"kernel_shape*", {huge, huge}}}},
    {"of a matrix in blocks of 0", "DepthToSpace", {}, {{"blocksize", {0}}}},
};

onnx::ModelProto modelOf(const Bomb &bomb) {
  TinyModel model;
  model.input("x", {2, 3}).output("y");
  std::vector<std::string> inputs;
  if (bomb.op != "ConstantOfShape" && bomb.op != "Range")
    inputs.push_back("x");
  bool scalars = bomb.op == "Range" || bomb.op == "OneHot" || bomb.op == "Trilu";
  for (const std::vector<int64_t> &constant : bomb.constants) {
    inputs.push_back(fmt::format("c{}", inputs.size()));
    std::vector<int64_t> shape;
    if (!scalars)
      shape.push_back(static_cast<int64_t>(constant.size()));
    model.integers(inputs.back(), shape, constant);
  }
  onnx::NodeProto *node = model.node(bomb.op, inputs, {"y"});
  for (const auto &[name, values] : bomb.attributes)
    name.ends_with("*") ? setAttribute(node, name.substr(0, name.size() - 1), values)
                        : setAttribute(node, name, values[0]);
  return model.proto;
}

void addBombs(Rows &rows) {
  for (const Bomb &bomb : bombs)
    rows.push_back({bomb.op + " " + bomb.what, [&bomb] { return modelOf(bomb); }});
  rows.push_back({"sizes that double sixty times", [] {
                    TinyModel model;
                    model.input("x", {2, 3}).output("y");
                    std::string value = "x";
                    for (int i = 0; i < 60; ++i) {
                      std::string next = i == 59 ? "y" : fmt::format("v{}", i);
                      setAttribute(model.node("Concat", {value, value}, {next}), "axis", int64_t(0));
                      value = next;
                    }
                    return model.proto;
                  }});
  for (const char *name : {"strides", "dilations", "kernel_shape"})
    for (int64_t bad : {int64_t(0), int64_t(-1), largest})
      rows.push_back({fmt::format("Conv with {} of {}", name, bad), [=] {
                        TinyModel model;
                        model.input("x", {1, 2, 8, 8}).output("y").floats("w", {2, 2, 3, 3}, std::vector<float>(36));
                        setAttribute(model.node("Conv", {"x", "w"}, {"y"}), name, std::vector<int64_t>{bad, bad});
                        return model.proto;
                      }});
  for (int64_t bad : {int64_t(0), int64_t(-1), int64_t(3), largest})
    rows.push_back({fmt::format("Conv with {} groups", bad), [=] {
                      TinyModel model;
                      model.input("x", {1, 2, 8, 8}).output("y").floats("w", {2, 2, 3, 3}, std::vector<float>(36));
                      setAttribute(model.node("Conv", {"x", "w"}, {"y"}), "group", bad);
                      return model.proto;
                    }});
}

} // namespace

std::vector<HostileModel> hostileModels() {
  Rows rows;
  addEnvelopes(rows);
  addGraphs(rows);
  addFunctions(rows);
  addWeights(rows);
  addBombs(rows);
  return rows;
}

} // namespace tilewright::test
