// SPDX-License-Identifier: Apache-2.0
// tilewright test: runs ONNX test folders (model.onnx and test_data_set_N), fused and unfused, and compares the
// failures with a list of known ones.
#include "runtime/Devices.h"
#include "tools/tilewright/Json.h"
#include "tools/tilewright/Progress.h"
#include "tools/tilewright/commands/Commands.h"
#include "tools/tilewright/model/FreezeInputs.h"
#include "tools/tilewright/options/InputOptions.h"
#include "tools/tilewright/options/ModelOptions.h"
#include "tools/tilewright/values/Compare.h"
#include "tools/tilewright/values/TensorFiles.h"

#include "runtime/execute/Context.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;

namespace tilewright {

namespace {

struct TestCommand {
  ModelOptions model;
  std::string knownFailures;
  std::vector<std::string> modes = {"all", "none"};
  unsigned timeout = 60, jobs = 0;
  size_t atLeast = 0;
  bool writeKnownFailures = false, json = false, specialize = false;
};

/// The result of one test in all modes: empty if it passed.
struct Outcome {
  std::string name;
  std::string failure;
};

} // namespace

// The tolerance of ONNX's own runner (onnx.backend.test): |a - b| <= 1e-7 + 1e-3 |b|; for bfloat16, two units in the
// last place.
static constexpr Tolerance onnxTolerance = {1e-3, 1e-7, false};
static constexpr double bfloatRelative = 0x1p-6;

/// A test may have its own tolerance in data.json: {"rtol": 1e-2, "atol": 1e-4}.
static Tolerance toleranceOf(const fs::path &folder) {
  Tolerance tolerance = onnxTolerance;
  std::ifstream file(folder / "data.json");
  nlohmann::json own = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!own.is_object())
    return tolerance;
  if (auto relative = own.find("rtol"); relative != own.end() && relative->is_number())
    tolerance.relative = *relative;
  if (auto absolute = own.find("atol"); absolute != own.end() && absolute->is_number())
    tolerance.absolute = *absolute;
  return tolerance;
}

static Status runDataSet(const std::shared_ptr<const runtime::Program> &program,
                         const std::shared_ptr<runtime::Device> &device, const fs::path &folder,
                         const Tolerance &tolerance) {
  Expected<std::vector<NamedTensor>> given = readTestData(folder, DataKind::Input, program->plan()),
                                     expected = readTestData(folder, DataKind::Output, program->plan());
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
  Expected<std::vector<size_t>> places = matchOutputs(program->plan(), *expected);
  TILEWRIGHT_TRY(places);
  for (size_t e = 0; e < expected->size(); ++e) {
    size_t i = (*places)[e];
    Tolerance own = tolerance;
    if ((*expected)[e].tensor.type() == DType::BF16)
      own.relative = std::max(own.relative, bfloatRelative);
    if (Comparison result = compare(program->output(i).name, (*outputs)[i], (*expected)[e].tensor, own); !result.same)
      return {Code::Differs, result.sentence};
  }
  return {};
}

/// Runs the model compiled for this data set, with its small inputs as constants (FreezeInputs.h).
static Status runSpecialized(const ModelOptions &options, const std::shared_ptr<runtime::Device> &device,
                             const fs::path &dataSet, const Tolerance &tolerance) {
  Expected<std::vector<NamedTensor>> given =
      readTestData(dataSet, DataKind::Input, {}); // reads tensors only, which are what is frozen
  TILEWRIGHT_TRY(given);
  Expected<std::shared_ptr<std::string>> bytes = freezeInputs(options.model, *given);
  TILEWRIGHT_TRY(bytes);
  Expected<CompileOptions> compile = compileOptions(options);
  TILEWRIGHT_TRY(compile);
  compile->modelBytes = *bytes;
  Expected<CompiledModel> compiled = compileModel(*compile);
  TILEWRIGHT_TRY(compiled);
  Expected<runtime::Artifact> artifact = compiled->artifact();
  TILEWRIGHT_TRY(artifact);
  auto program = runtime::Program::create(*artifact, device->info(), options.fuse);
  TILEWRIGHT_TRY(program);
  return runDataSet(*program, device, dataSet, tolerance);
}

static std::vector<fs::path> dataSets(const fs::path &folder) {
  std::vector<fs::path> sets;
  for (const auto &entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("test_data_set_"))
      sets.push_back(entry.path());
  std::ranges::sort(sets);
  return sets;
}

static Status runMode(const fs::path &folder, const ModelOptions &options, bool specialize,
                      const std::shared_ptr<runtime::Device> &device) {
  Tolerance tolerance = toleranceOf(folder);
  Expected<runtime::Artifact> artifact = loadOrCompile(options);
  if (!artifact && specialize && artifact.status().code() == Code::Unsupported) {
    for (const fs::path &dataSet : dataSets(folder))
      TILEWRIGHT_TRY(runSpecialized(options, device, dataSet, tolerance));
    return {};
  }
  TILEWRIGHT_TRY(artifact);
  auto program = runtime::Program::create(*artifact, device->info(), options.fuse);
  TILEWRIGHT_TRY(program);
  for (const fs::path &dataSet : dataSets(folder))
    TILEWRIGHT_TRY(runDataSet(*program, device, dataSet, tolerance));
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
    if (Status status = runMode(folder, options, command.specialize, *device); !status)
      return {status.code(), fmt::format("{}: {}", mode, status.message())};
  }
  return {};
}

namespace {
/// A test in a child process, so that a crash or hang fails that test only.
struct Child {
  pid_t process = -1;
  int channel = -1; // a pipe with its output, closed when it ends
  size_t outcome = 0;
  std::string text;
};
} // namespace

static std::optional<Child> startTest(const fs::path &folder, const TestCommand &command, size_t outcome) {
  int channel[2];
  if (pipe(channel) != 0)
    return std::nullopt;
  pid_t process = fork();
  if (process == 0) {
    close(channel[0]);
    alarm(command.timeout);
    Status status = runTest(folder, command);
    std::string text = status.message().substr(0, 4000);
    std::replace(text.begin(), text.end(), '\n', ' ');
    bool written = write(channel[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    _exit(status.ok() && written ? 0 : 1);
  }
  close(channel[1]);
  if (process < 0) {
    close(channel[0]);
    return std::nullopt;
  }
  return Child{process, channel[0], outcome, ""};
}

/// The result of the test, once its channel is closed.
static std::string finishTest(const Child &child, const TestCommand &command) {
  close(child.channel);
  int status = 0;
  waitpid(child.process, &status, 0);
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGALRM ? fmt::format("took longer than {} s", command.timeout)
                                       : fmt::format("crashed with signal {}", WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : child.text.empty() ? "failed without a word" : child.text;
}

/// Runs all tests, `jobs` at a time.
static std::vector<Outcome> runTests(const std::vector<fs::path> &tests, const TestCommand &command) {
  Progress progress("testing");
  std::vector<Outcome> outcomes;
  for (const fs::path &folder : tests)
    outcomes.push_back({folder.filename().string(), ""});
  size_t jobs = command.jobs ? command.jobs : std::max(1u, std::thread::hardware_concurrency()), next = 0, ended = 0;
  std::vector<Child> running;
  while (ended < tests.size()) {
    for (; next < tests.size() && running.size() < jobs; ++next) {
      if (std::optional<Child> child = startTest(tests[next], command, next)) {
        running.push_back(std::move(*child));
        continue;
      }
      outcomes[next].failure = "no child process could be started";
      ++ended;
    }
    if (running.empty())
      continue;
    std::vector<pollfd> channels;
    for (const Child &child : running)
      channels.push_back({child.channel, POLLIN, 0});
    poll(channels.data(), channels.size(), -1);
    for (size_t i = running.size(); i-- > 0;) {
      char buffer[4096];
      if (!(channels[i].revents & (POLLIN | POLLHUP | POLLERR)))
        continue;
      if (ssize_t n = read(running[i].channel, buffer, sizeof buffer); n > 0) {
        running[i].text.append(buffer, n);
        continue;
      }
      outcomes[running[i].outcome].failure = finishTest(running[i], command);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      progress.show(double(++ended) / tests.size());
    }
  }
  return outcomes;
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

static Status judge(const std::vector<Outcome> &outcomes, const std::map<std::string, std::string> &known,
                    const TestCommand &command) {
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
    fmt::print("{}\n", toText(nlohmann::json{{"schema", jsonSchema},
                                             {"tests", outcomes.size()},
                                             {"passed", passed},
                                             {"known_failures", expected},
                                             {"unexpected", surprises}},
                              2));
  for (size_t i = 0; !command.json && i < surprises.size(); ++i)
    fmt::print("UNEXPECTED {}\n", surprises[i]);
  fmt::print(command.json ? stderr : stdout, "{} passed, {} failed as known, {} unexpected, of {}\n", passed, expected,
             surprises.size(), outcomes.size());
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
  std::vector<Outcome> outcomes = runTests(tests, command);
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
  command->add_option("DIR", options->model.model, "searched for folders with a model.onnx and test_data_set_N")
      ->required();
  command->add_option("--modes", options->modes, "fusion modes that must all pass")
      ->delimiter(',')
      ->check(CLI::IsMember({"reference", "none", "epilogue", "all"}))
      ->capture_default_str();
  auto *known = command->add_option("--known-failures", options->knownFailures,
                                    "a file of lines 'name: reason'; if one of these tests passes, the run fails");
  auto *list = command->add_flag("--list-failures", options->writeKnownFailures,
                                 "print the failures in the format of --known-failures, without a verdict");
  auto *least = command->add_option("--at-least", options->atLeast, "the least number of tests that must pass");
  auto *json = command->add_flag("--json", options->json, "print the verdict as JSON");
  for (CLI::Option *ofVerdicts : {known, least, json})
    list->excludes(ofVerdicts);
  command->add_option("--timeout", options->timeout, "seconds for one test")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--jobs", options->jobs, "tests to run in parallel; 0: one per processor")->capture_default_str();
  command->add_flag(
      "--specialize", options->specialize,
      "compile a model that needs the reference again for each data set, with its small inputs (axes, pads, "
      "scales) as constants");
  command->add_flag("--no-fallback", options->model.noFallback, "fail if an operator would run through the reference");
  command->footer("Example: tilewright test /usr/share/libonnx-testdata/data/node --no-fallback --list-failures");
  command->callback([options, &exitCode] { exitCode = report(test(*options)); });
}

} // namespace tilewright
