// tilewright test: ONNX test folders (model.onnx beside test_data_set_N), fused and unfused, against a list of known failures.
#include "backend/driver/Commands.h"
#include "backend/driver/Compare.h"
#include "backend/driver/InputOptions.h"
#include "backend/driver/Json.h"
#include "backend/driver/ModelOptions.h"
#include "backend/driver/Progress.h"
#include "backend/driver/TensorFiles.h"

#include "runtime/Context.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace tilewright {

namespace {

struct TestCommand {
  ModelOptions model;
  std::string knownFailures;
  std::vector<std::string> modes = {"all", "none"};
  unsigned timeout = 60;
  size_t atLeast = 0;
  bool writeKnownFailures = false, json = false;
};

/// What became of one test in all its modes: empty if it passed.
struct Outcome {
  std::string name;
  std::string failure;
};

} // namespace

// The rule of ONNX's own runner (onnx.backend.test): |a - b| <= 1e-7 + 1e-3 |b| for every type.
static constexpr Tolerance onnxTolerance = {1e-3, 1e-7, false};

static Status runDataSet(const std::shared_ptr<const runtime::Program> &program, const std::shared_ptr<runtime::Device> &device,
                         const fs::path &folder) {
  Expected<std::vector<NamedTensor>> given = readTestData(folder, "input"), expected = readTestData(folder, "output");
  if (!given || !expected)
    return !given ? given.status() : expected.status();
  Expected<std::vector<Tensor>> inputs = orderInputs(program->plan(), *given);
  if (!inputs)
    return inputs.status();
  auto context = runtime::Context::create(program, device);
  if (!context)
    return context.status();
  Expected<std::vector<Tensor>> outputs = (*context)->run(*inputs);
  if (!outputs)
    return outputs.status();
  if (outputs->size() != expected->size())
    return {Code::Differs, fmt::format("{} outputs, expected {}", outputs->size(), expected->size())};
  for (size_t i = 0; i < outputs->size(); ++i)
    if (Comparison result = compare(program->output(i).name, (*outputs)[i], (*expected)[i].tensor, onnxTolerance); !result.same)
      return {Code::Differs, result.sentence};
  return {};
}

static Status runTest(const fs::path &folder, const TestCommand &command) {
  auto device = runtime::openDevice("host");
  if (!device)
    return device.status();
  for (const std::string &mode : command.modes) {
    ModelOptions options = command.model;
    options.model = (folder / "model.onnx").string();
    options.fuse = mode;
    options.quiet = true;
    auto named = [&](const Status &status) { return Status(status.code(), fmt::format("{}: {}", mode, status.message())); };
    Expected<runtime::Artifact> artifact = loadOrCompile(options);
    if (!artifact)
      return named(artifact.status());
    auto program = runtime::Program::create(*artifact, (*device)->info(), mode);
    if (!program)
      return named(program.status());
    for (const auto &entry : fs::directory_iterator(folder))
      if (entry.path().filename().string().starts_with("test_data_set_"))
        if (Status status = runDataSet(*program, *device, entry.path()); !status)
          return named(status);
  }
  return {};
}

/// Runs the test in a child process: one that crashes or hangs is a failure of that test alone.
static std::string runIsolated(const fs::path &folder, const TestCommand &command) {
  int channel[2];
  if (pipe(channel) != 0)
    return "no pipe for the child process";
  pid_t child = fork();
  if (child == 0) {
    close(channel[0]);
    alarm(command.timeout);
    Status status = runTest(folder, command);
    std::string text = status.message().substr(0, 4000);
    std::replace(text.begin(), text.end(), '\n', ' ');
    bool written = write(channel[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(status.ok() && written ? 0 : 1);
  }
  close(channel[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(channel[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, n);
  close(channel[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGALRM ? fmt::format("took longer than {} s", command.timeout)
                                       : fmt::format("crashed with signal {}", WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : text.empty() ? "failed without a word" : text;
}

static std::vector<fs::path> findTests(const fs::path &root) {
  std::vector<fs::path> tests;
  std::error_code error;
  for (const auto &entry : fs::recursive_directory_iterator(root, error))
    if (entry.path().filename() == "model.onnx")
      tests.push_back(entry.path().parent_path());
  std::sort(tests.begin(), tests.end());
  return tests;
}

/// Lines "name: reason"; '#' begins a comment.
static Expected<std::map<std::string, std::string>> readKnownFailures(const std::string &path) {
  std::map<std::string, std::string> known;
  if (path.empty())
    return known;
  std::ifstream file(path);
  if (!file)
    return Status(Code::Io, fmt::format("{}: cannot be opened", path));
  for (std::string line; std::getline(file, line);) {
    size_t colon = line.find(": ");
    if (!line.empty() && line[0] != '#' && colon != std::string::npos)
      known[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return known;
}

static Status judge(const std::vector<Outcome> &outcomes, const std::map<std::string, std::string> &known, const TestCommand &command) {
  size_t passed = 0, expected = 0;
  std::vector<std::string> surprises;
  for (const Outcome &outcome : outcomes) {
    bool listed = known.count(outcome.name);
    passed += outcome.failure.empty();
    expected += listed && !outcome.failure.empty();
    if (listed && outcome.failure.empty())
      surprises.push_back(fmt::format("{} passes, but the list of known failures has it", outcome.name));
    if (!listed && !outcome.failure.empty())
      surprises.push_back(fmt::format("{}: {}", outcome.name, outcome.failure));
  }
  if (command.json)
    fmt::print("{}\n", toText(nlohmann::json{{"schema", schemaVersion},
                                             {"tests", outcomes.size()},
                                             {"passed", passed},
                                             {"known_failures", expected},
                                             {"unexpected", surprises}},
                              2));
  for (size_t i = 0; !command.json && i < surprises.size(); ++i)
    fmt::print("UNEXPECTED {}\n", surprises[i]);
  fmt::print(command.json ? stderr : stdout, "{} passed, {} failed as known, {} unexpected, of {}\n", passed, expected, surprises.size(),
             outcomes.size());
  if (!surprises.empty())
    return {Code::Differs, fmt::format("{} tests did not do what was expected of them", surprises.size())};
  if (passed < command.atLeast)
    return {Code::Differs, fmt::format("{} tests passed, expected at least {}", passed, command.atLeast)};
  return {};
}

static Status test(const TestCommand &command) {
  auto known = readKnownFailures(command.knownFailures);
  if (!known)
    return known.status();
  std::vector<fs::path> tests = findTests(command.model.model);
  if (tests.empty())
    return {Code::Io, fmt::format("{}: holds no folder with a model.onnx", command.model.model)};
  Progress progress("testing");
  std::vector<Outcome> outcomes;
  for (const fs::path &folder : tests) {
    outcomes.push_back({folder.filename().string(), runIsolated(folder, command)});
    progress.show(double(outcomes.size()) / tests.size());
  }
  if (!command.writeKnownFailures)
    return judge(outcomes, *known, command);
  for (const Outcome &outcome : outcomes)
    if (!outcome.failure.empty())
      fmt::print("{}: {}\n", outcome.name, outcome.failure);
  return {};
}

void addTestCommand(CLI::App &app, int &exitCode) {
  auto *command = app.add_subcommand("test", "Run ONNX test folders, fused and unfused");
  auto options = std::make_shared<TestCommand>();
  command->add_option("DIR", options->model.model, "searched for folders with a model.onnx and test_data_set_N")->required();
  command->add_option("--modes", options->modes, "fusion modes that must all pass")->delimiter(',')->capture_default_str();
  command->add_option("--known-failures", options->knownFailures, "lines 'name: reason'; a pass of one of them fails the run");
  command->add_flag("--list-failures", options->writeKnownFailures, "print the failures as such a list instead of judging them");
  command->add_option("--at-least", options->atLeast, "how many must pass");
  command->add_flag("--json", options->json, "print the verdict as JSON");
  command->add_option("--timeout", options->timeout, "seconds for one test")->capture_default_str();
  command->add_flag("--no-fallback", options->model.noFallback, "fail where an operator would run through the reference");
  command->footer("Example: tilewright test /usr/share/libonnx-testdata/data/node --no-fallback --list-failures");
  command->callback([options, &exitCode] { exitCode = report(test(*options)); });
}

} // namespace tilewright
