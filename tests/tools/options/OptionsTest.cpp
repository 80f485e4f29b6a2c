// SPDX-License-Identifier: Apache-2.0
// Every option of every command over a model, an artifact and a stage: honoured, or refused by one sentence. The
// options are CLI11's own list, so a new one fails here until it has a row in OptionTable.cpp and, for inputs that it
// applies to, a sample below that shows its effect.
#include "tests/ScratchFolder.h"
#include "tools/tilewright/commands/Commands.h"
#include "tools/tilewright/model/OnnxModel.h"
#include "tools/tilewright/options/OptionTable.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace fs = std::filesystem;
using namespace tilewright;

namespace {

struct Result {
  int exitCode = -1;
  std::string said; // stdout and stderr
};

/// Runs `tilewright ARGUMENTS` in `folder`, where nothing is on the PATH.
Result command(const fs::path &folder, const std::string &arguments) {
  Result result;
  std::string line =
      "cd '" + folder.string() + "' && PATH=/nonexistent '" TILEWRIGHT_BINARY_DIR "/tilewright' " + arguments + " 2>&1";
  FILE *pipe = popen(line.c_str(), "r");
  if (!pipe) {
    ADD_FAILURE() << "cannot start a shell";
    return result;
  }
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    result.said.append(buffer, n);
  int status = pclose(pipe);
  result.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

//===- The files --------------------------------------------------------------------------------------------------===//

void addValue(onnx::ValueInfoProto *info, const char *name, std::optional<int64_t> width) {
  info->set_name(name);
  info->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  auto *shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->add_dim()->set_dim_param("batch");
  if (width)
    shape->add_dim()->set_dim_value(*width);
}

void addNode(onnx::GraphProto &graph, const char *op, std::vector<const char *> inputs, const char *output) {
  onnx::NodeProto *node = graph.add_node();
  node->set_name(op), node->set_op_type(op), node->add_output(output);
  for (const char *input : inputs)
    node->add_input(input);
}

onnx::ModelProto emptyModel() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  model.mutable_graph()->set_name("options");
  return model;
}

/// y = relu(x w), for any batch.
onnx::ModelProto product() {
  onnx::ModelProto model = emptyModel();
  onnx::GraphProto &graph = *model.mutable_graph();
  addValue(graph.add_input(), "x", 8), addValue(graph.add_output(), "y", 8);
  Tensor weights = Tensor::allocate(DType::F32, {8, 8});
  for (int64_t i = 0; i < weights.count(); ++i)
    weights.data<float>()[i] = static_cast<float>(i % 5) - 1;
  *graph.add_initializer() = toProto("w", weights);
  addNode(graph, "MatMul", {"x", "w"}, "product"), addNode(graph, "Relu", {"product"}, "y");
  return model;
}

/// A model whose external weights are missing.
onnx::ModelProto withoutWeights() {
  onnx::ModelProto model = product();
  onnx::TensorProto &weights = *model.mutable_graph()->mutable_initializer(0);
  weights.clear_raw_data();
  weights.set_data_location(onnx::TensorProto::EXTERNAL);
  auto *entry = weights.add_external_data();
  entry->set_key("location"), entry->set_value("absent.bin");
  return model;
}

/// A node that no kernel is compiled for.
onnx::ModelProto throughReference() {
  onnx::ModelProto model = emptyModel();
  addValue(model.mutable_graph()->add_input(), "x", {}), addValue(model.mutable_graph()->add_output(), "y", {});
  model.mutable_graph()
      ->mutable_output(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("found");
  addNode(*model.mutable_graph(), "Unique", {"x"}, "y");
  return model;
}

//===- The samples ------------------------------------------------------------------------------------------------===//

constexpr int anyFailure = -2;

/// Shows the effect of an option. `@` stands for the file.
struct Sample {
  std::string_view command; // empty: every command without a sample of its own
  std::string_view option;
  InputKind kind; // Model: every kind without a sample of its own
  std::string_view
      arguments; // all but the file and the command's usual ones; with "alone " before them, without the usual ones too
  int exitCode = 0;
  std::string_view says = {};   // a part of the output; with '!' before it, absent from the output
  std::string_view writes = {}; // a file
  std::string_view model = {};  // instead of the product
};

constexpr InputKind any = InputKind::Model, artifact = InputKind::Artifact;

constexpr Sample samples[] = {
    {"", "MODEL", any, ""},
    {"", "target", any, "--target nosuch", anyFailure, "nosuch"},
    {"", "shapes", any, "--shapes nosuch:3", anyFailure, "nosuch"},
    {"", "input-shapes", any, "--input-shapes nosuch:[3]", anyFailure, "nosuch"},
    {"", "fuse", any, "--fuse=epilogue --target sm_80 --dump-stages dumped", anyFailure, "",
     "dumped/sm_80-epilogue/4-tile.mlir"}, // no such device
    {"compile", "fuse", any, "--fuse=epilogue --target sm_80 --dump-stages dumped", 0, "",
     "dumped/sm_80-epilogue/4-tile.mlir"},
    {"inspect", "fuse", any, "--fuse=epilogue", 0, "\"mode\": \"epilogue\""},
    {"", "fuse", artifact, "--fuse=epilogue", 2, "no plan for fusion mode 'epilogue'"},
    {"", "random-weights", any, "--random-weights", 0, "", "", "weightless.onnx"},
    {"", "matmul-precision", any, "--matmul-precision exact", 2, "exact not in {ieee,tf32x3,tf32}"},
    {"", "no-fallback", any, "--no-fallback", 3, "Unique", "", "unique.onnx"},
    {"", "dump-stages", any, "--dump-stages dumped", 0, "", "dumped/constants.bin"},
    {"", "cubin", any, "--cubin", 2, "no --target is NVIDIA's"},
    {"", "code-object-version", any, "--code-object-version 6", 2, "no --target is AMD's"},
    {"", "jobs", any, "--jobs 1"},
    {"", "quiet", any, "-q", 0, "!remark", "", "unique.onnx"},
    {"", "quiet", artifact, "-q", 0, "!remark"},
    {"", "json", any, "--json", 0, "\"schema\": 1"},
    {"inspect", "json", any, "alone --fusion --json", 0, "\"schema\": 1"},
    {"", "inputs", any, "--inputs nosuch=x.npy", 2, "the inputs are x"},
    {"", "dim", any, "--dim nosuch=8", 2, "the symbolic sizes of the inputs are batch"},
    {"", "seed", any, "--seed 7 --inputs random:8", 2, "say the same"},
    {"", "device", any, "--device nosuch", 2, "nosuch"},
    {"run", "rtol", any, "--check other --rtol 1e30 --atol 1e30", 0, "agrees"},
    {"run", "atol", any, "--check other --atol 1e30", 0, "agrees"},
    {"verify", "rtol", any, "alone --against other --rtol 1e30 --atol 1", 0, "ok"},
    {"verify", "atol", any, "alone --against other --atol 1e30", 0, "ok"},

    {"compile", "output", any, "alone -o named.tw", 0, "", "named.tw"},
    {"compile", "emit", any, "alone --emit=tile", 0, "tile.return"},
    {"compile", "explain-fusion", any, "--explain-fusion", 0, "fusion all: 1 launches"},
    {"compile", "with-unfused", any, "--with-unfused --dump-stages dumped --target sm_80", 0, "",
     "dumped/sm_80-none/4-tile.mlir"},

    {"run", "outputs", any, "--outputs out", 0, "", "out/y.npy"},
    {"run", "check", any, "--check other", 1, "elements differ"},

    {"bench", "warmup-ms", any, "alone --warmup-ms -1", 2, "not negative"},
    {"bench", "duration-ms", any, "alone --duration-ms nan", 2, "not negative"},
    {"bench", "duration", any, "alone --duration inf", 2, "not negative"},
    {"bench", "no-groups", any, "", 0, "!GFLOP/s"},
    {"bench", "export-json", any, "--export-json out.json", 0, "", "out.json"},
    {"bench", "export-trace", any, "--export-trace out.json", 0, "", "out.json"},
    {"bench", "report", any, "--report out.html", 0, "", "out.html"},

    {"verify", "against", any, "alone --against nosuch", 6, "nosuch"},
    {"verify", "per-node", any, "--per-node", 0, "every value that a kernel leaves in memory agrees"},
    {"verify", "reduce", any, "alone --reduce --against other", 2,
     "--reduce needs every value"}, // VerifyTest reduces what differs

    {"inspect", "io", any, "alone --io", 0, "\"outputs\""},
    {"inspect", "ops", any, "alone --ops", 0, "\"kernel\""},
    {"inspect", "fusion", any, "alone --fusion --json", 0, "\"launches\""},
    {"inspect", "memory", any, "alone --memory", 0, "\"constants_bytes\""},
    {"inspect", "support", any, "alone --support", 0, "0 are unsupported"},
};

/// Additional arguments of a command, which make it fast or give it something to do.
constexpr std::pair<std::string_view, std::string_view> usual[] = {
    {"compile", "-o out.tw"},
    {"bench", "--duration-ms 1 --warmup-ms 0 --no-groups"},
    {"verify", "--against unfused"},
    {"inspect", "--io"}};

const Sample *findSample(std::string_view command, std::string_view option, InputKind kind) {
  for (std::string_view of : {command, std::string_view()})
    for (InputKind with : {kind, any})
      for (const Sample &sample : samples)
        if (sample.command == of && sample.option == option && sample.kind == with)
          return &sample;
  return nullptr;
}

class Options : public testing::Test {
protected:
  Options() { addCommands(app, exitCode); }

  void SetUp() override {
    write("product.onnx", product()), write("weightless.onnx", withoutWeights()),
        write("unique.onnx", throughReference());
    ASSERT_EQ(in("compile product.onnx -q --with-unfused -o product.tw --dump-stages stages").exitCode, 0);
    ASSERT_EQ(in("run product.onnx --seed 3 --outputs other").exitCode, 0);
  }

  void write(const char *name, const onnx::ModelProto &model) {
    std::ofstream(scratch / name, std::ios::binary) << model.SerializeAsString();
  }
  Result in(const std::string &arguments) { return command(scratch.folder(), arguments); }

  std::vector<const CLI::App *> commandsOverModels() const {
    return app.get_subcommands(
        [](const CLI::App *command) { return command->get_option_no_throw("MODEL") != nullptr; });
  }
  static std::vector<const CLI::Option *> optionsOf(const CLI::App *command) {
    return command->get_options([&](const CLI::Option *option) { return option != command->get_help_ptr(); });
  }

  /// Every option of every command with a file of `kind`.
  void walk(InputKind kind, const std::string &file) {
    for (const CLI::App *command : commandsOverModels())
      for (const CLI::Option *option : optionsOf(command)) {
        std::string name = option->get_single_name();
        SCOPED_TRACE(command->get_name() + " --" + name + " of " + file);
        ASSERT_TRUE(findOptionRow(command->get_name(), name)) << "this option has no row in OptionTable.cpp";
        std::string_view why = whyRefused(command->get_name(), name, kind);
        if (why.empty())
          expectHonoured(*command, name, kind, file);
        else
          expectRefused(*command, *option, file, why);
      }
  }

  void expectRefused(const CLI::App &command, const CLI::Option &option, const std::string &file,
                     std::string_view why) {
    const std::string &name = option.get_single_name();
    bool isFile = option.get_positional() || name == "onnx", needsValue = option.get_items_expected_min() > 0;
    std::string given = name == "onnx" ? "--onnx=" + file
                        : isFile       ? file
                                       : file + " --" + name + (needsValue ? " " + valueFor(name) : "");
    Result result = in(command.get_name() + " " + given);
    EXPECT_EQ(result.exitCode, 2) << result.said;
    EXPECT_EQ(std::ranges::count(result.said, '\n'), 1) << result.said;
    EXPECT_NE(result.said.find(file), std::string::npos) << result.said;
    EXPECT_TRUE(isFile || command.get_name() == "compile" || result.said.find("--" + name) != std::string::npos)
        << result.said;
    EXPECT_NE(result.said.find(why), std::string::npos) << result.said;
  }

  /// A value that CLI11 takes.
  static std::string valueFor(const std::string &option) {
    static const std::map<std::string, std::string> others = {
        {"fuse", "all"}, {"explain-fusion", "json"}, {"code-object-version", "5"}, {"matmul-precision", "tf32"}};
    auto found = others.find(option);
    return found == others.end() ? "1" : found->second;
  }

  void expectHonoured(const CLI::App &command, const std::string &option, InputKind kind, const std::string &file) {
    const Sample *sample = findSample(command.get_name(), option == "onnx" ? "MODEL" : option, kind);
    ASSERT_TRUE(sample) << "no sample above shows that this option is honoured";
    std::string arguments(sample->arguments), given = sample->model.empty() ? file : std::string(sample->model);
    if (kind == InputKind::Stage && !sample->model.empty())
      given = file;
    if (arguments.starts_with("alone "))
      arguments = arguments.substr(6);
    else
      for (auto [name, more] : usual)
        arguments += name == command.get_name() ? " " + std::string(more) : "";
    for (const char *left : {"dumped", "out", "out.json", "out.html", "out.tw", "named.tw"})
      fs::remove_all(scratch / left);
    Result result = in(command.get_name() + " " + (option == "onnx" ? "--onnx=" : "") + given + " " + arguments);
    EXPECT_TRUE(sample->exitCode == anyFailure
                    ? command.get_name() == "compile" || command.get_name() == "inspect" || result.exitCode > 0
                    : result.exitCode == sample->exitCode)
        << arguments << ": " << result.exitCode << " " << result.said;
    bool absent = sample->says.starts_with('!');
    EXPECT_EQ(result.said.find(sample->says.substr(absent)) == std::string::npos, absent)
        << arguments << ": " << result.said;
    EXPECT_TRUE(sample->writes.empty() || fs::exists(scratch / sample->writes)) << arguments << ": " << result.said;
  }

  test::ScratchFolder scratch;
  CLI::App app;
  int exitCode = 0;
};

} // namespace

TEST_F(Options, EachHasARowAndEachRowAnOption) {
  std::set<const OptionRow *> used;
  for (const CLI::App *command : commandsOverModels())
    for (const CLI::Option *option : optionsOf(command)) {
      const OptionRow *row = findOptionRow(command->get_name(), option->get_single_name());
      EXPECT_TRUE(row) << command->get_name() << " --" << option->get_single_name();
      used.insert(row);
    }
  for (const OptionRow &row : optionRows())
    EXPECT_TRUE(used.contains(&row)) << "no command has the option of this row: " << row.command << " --" << row.option;
  std::set<std::string> others;
  for (const CLI::App *command : app.get_subcommands({}))
    if (!command->get_option_no_throw("MODEL"))
      others.insert(command->get_name());
  EXPECT_EQ(others, (std::set<std::string>{"test", "devices", "version"})); // which take no model
}

TEST_F(Options, OverAModel) { walk(InputKind::Model, "product.onnx"); }
TEST_F(Options, OverAnArtifact) { walk(InputKind::Artifact, "product.tw"); }
TEST_F(Options, OverAStage) { walk(InputKind::Stage, "stages/0-import.mlir"); }

/// An initializer that is listed as an input is compiled in. To take a value for it and ignore it would be worse than
/// to refuse it, also where the model has no other inputs.
TEST_F(Options, RefuseAValueForWhatHasAnInitializer) {
  onnx::ModelProto model = product();
  addValue(model.mutable_graph()->add_input(), "w", 8);
  write("listed.onnx", model);
  Result listed = in("run listed.onnx --inputs w=w.npy");
  EXPECT_EQ(listed.exitCode, 2);
  EXPECT_NE(listed.said.find("the inputs are x, initializers are constants"), std::string::npos);

  onnx::ModelProto constant = emptyModel();
  *constant.mutable_graph()->add_initializer() = toProto("w", Tensor::allocate(DType::F32, {8, 8}));
  addValue(constant.mutable_graph()->add_input(), "w", 8), addValue(constant.mutable_graph()->add_output(), "y", 8);
  addNode(*constant.mutable_graph(), "Relu", {"w"}, "y");
  write("constant.onnx", constant);
  EXPECT_EQ(in("run constant.onnx").exitCode, 0);
  Result refused = in("run constant.onnx --inputs w=w.npy");
  EXPECT_EQ(refused.exitCode, 2);
  EXPECT_NE(refused.said.find("the model has no inputs"), std::string::npos);
}

/// The premise of the samples: without the option, its effect does not show.
TEST_F(Options, SamplesShowSomething) {
  EXPECT_EQ(in("run weightless.onnx").exitCode, 6);
  EXPECT_NE(in("run unique.onnx").said.find("remark"), std::string::npos);
  EXPECT_NE(in("bench product.onnx --duration-ms 1").said.find("GFLOP/s"), std::string::npos);
  EXPECT_EQ(in("verify product.onnx --against other").exitCode, 1);
}
