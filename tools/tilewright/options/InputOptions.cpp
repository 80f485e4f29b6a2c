// SPDX-License-Identifier: Apache-2.0
// Reads the inputs and opens the device of a run.
#include "tools/tilewright/options/InputOptions.h"
#include "runtime/Devices.h"

#include "tools/tilewright/options/ModelOptions.h"
#include "tools/tilewright/values/Npz.h"
#include "tools/tilewright/values/TensorFiles.h"

#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fs = std::filesystem;

namespace tilewright {

void addInputOptions(CLI::App &command, InputOptions &options) {
  command
      .add_option("--inputs", options.inputs,
                  "a folder of test data, NAME=FILE.npy, FILE.npz (arrays by name), NAME=FILE.npz, or random:SEED (the "
                  "default, random:0)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--dim,-f", options.sizes,
                  "size of a symbolic dimension of random inputs, batch=8 or batch:8; 1 by default")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--seed", options.seed, "random inputs from this seed: the same as --inputs random:SEED");
  command.add_option("--device", options.device,
                     "host, cuda, cuda:N, hip or hip:N; by default one that runs the first target's code");
}

Expected<std::vector<std::pair<std::string, int64_t>>> givenSizes(const InputOptions &options) {
  std::vector<std::pair<std::string, int64_t>> sizes;
  for (const std::string &text : options.sizes) {
    size_t equal = text.find_first_of("=:");
    std::optional<int64_t> size =
        equal == std::string::npos ? std::nullopt : parseSize(std::string_view(text).substr(equal + 1));
    if (!size || *size == 0 || equal == 0)
      return Status(Code::Usage, fmt::format("--dim {}: expected NAME=SIZE, a size of 1 or more", text));
    sizes.emplace_back(text.substr(0, equal), *size);
  }
  return sizes;
}

/// The arrays of an archive: all of them, or for NAME=FILE.npz the one of that name, else the only one.
static Expected<std::vector<NamedTensor>> readArchive(const std::string &file, const std::string &wanted) {
  Expected<std::vector<NamedTensor>> arrays = readNpz(file);
  if (!arrays || wanted.empty())
    return arrays;
  for (NamedTensor &array : *arrays)
    if (array.name == wanted || arrays->size() == 1)
      return std::vector<NamedTensor>{{wanted, std::move(array.tensor)}};
  return Status(Code::Usage,
                fmt::format("--inputs {}={}: has {} arrays, none of them of that name", wanted, file, arrays->size()));
}

/// Checks an input name from the command line. Names inside of files are not checked: another tool may have chosen
/// them. Initializers that the model lists as inputs too are constants of the plan, so they are refused as any other
/// name that is no input.
static Status checkName(const runtime::Plan &plan, const std::string &name, const std::string &source) {
  std::vector<std::string> names;
  for (runtime::ValueId id : plan.inputs)
    names.push_back(plan.values[id].name);
  if (name.empty() || std::ranges::find(names, name) != names.end())
    return {};
  if (names.empty())
    return {Code::Usage, fmt::format("--inputs {}: the model has no inputs, initializers are constants", source)};
  return {Code::Usage,
          fmt::format("--inputs {}: the inputs are {}, initializers are constants", source, fmt::join(names, ", "))};
}

/// The tensors of one --inputs; random:SEED sets `seed` instead. Without a plan names are not checked.
static Expected<std::vector<NamedTensor>> readSource(const std::string &source, const runtime::Plan *plan,
                                                     uint64_t &seed) {
  if (source.starts_with("random:")) {
    std::string_view digits = std::string_view(source).substr(7);
    auto [end, error] = std::from_chars(digits.begin(), digits.end(), seed);
    if (error != std::errc() || end != digits.end())
      return Status(Code::Usage, fmt::format("--inputs {}: expected a number after random:", source));
    return std::vector<NamedTensor>();
  }
  if (fs::is_directory(source)) {
    Expected<std::vector<NamedTensor>> values = readValues(source, DataKind::Input, plan ? *plan : runtime::Plan());
    return values && values->empty() && plan && !plan->inputs.empty()
               ? nothingFound("--inputs", source, DataKind::Input)
               : values;
  }
  size_t equal = source.find('=');
  std::string name = equal == std::string::npos ? "" : source.substr(0, equal),
              file = equal == std::string::npos ? source : source.substr(equal + 1);
  if (plan)
    TILEWRIGHT_TRY(checkName(*plan, name, source));
  if (file.ends_with(".npz"))
    return readArchive(file, name);
  if (name.empty())
    return Status(
        Code::Io,
        fmt::format("--inputs {}: is no folder, and not of the form NAME=FILE.npy, FILE.npz or random:SEED", source));
  Expected<NamedTensor> tensor = readTensorFile(file);
  if (!tensor)
    return tensor.status();
  return std::vector<NamedTensor>{{name, std::move(tensor->tensor)}};
}

std::vector<NamedTensor> namedInputs(const InputOptions &options) {
  uint64_t seed = options.seed.value_or(0);
  std::vector<NamedTensor> given;
  for (const std::string &source : options.inputs) {
    Expected<std::vector<NamedTensor>> tensors = readSource(source, nullptr, seed);
    if (!tensors || std::ranges::any_of(*tensors, [](const NamedTensor &tensor) { return tensor.name.empty(); }))
      return {};
    given.insert(given.end(), tensors->begin(), tensors->end());
  }
  return given;
}

/// Refuses sizes for symbols that no input has.
static Status checkSymbols(const runtime::Plan &plan, const std::vector<std::pair<std::string, int64_t>> &sizes) {
  std::vector<std::string> names = inputSymbols(plan);
  for (const auto &[name, size] : sizes)
    if (std::ranges::find(names, name) == names.end())
      return {Code::Usage, names.empty() ? fmt::format("--dim {}={}: no size of an input is symbolic", name, size)
                                         : fmt::format("--dim {}={}: the symbolic sizes of the inputs are {}", name,
                                                       size, fmt::join(names, ", "))};
  return {};
}

Expected<std::vector<Tensor>> readInputs(const runtime::Plan &plan, const InputOptions &options) {
  auto sizes = givenSizes(options);
  if (!sizes)
    return sizes.status();
  uint64_t seed = options.seed.value_or(0);
  std::vector<NamedTensor> given;
  for (const std::string &source : options.inputs) {
    if (options.seed && source.starts_with("random:"))
      return Status(Code::Usage, fmt::format("--seed and --inputs {} say the same: give one of them", source));
    Expected<std::vector<NamedTensor>> tensors = readSource(source, &plan, seed);
    if (!tensors)
      return tensors.status();
    given.insert(given.end(), tensors->begin(), tensors->end());
  }
  TILEWRIGHT_TRY(checkSymbols(plan, *sizes));
  if (given.empty())
    return randomInputs(plan, seed, *sizes);
  if (!sizes->empty() || options.seed)
    return Status(Code::Usage,
                  fmt::format("--{} is for invented inputs, and --inputs gives them", options.seed ? "seed" : "dim"));
  return orderInputs(plan, given);
}

bool areInvented(const InputOptions &options) {
  return std::ranges::all_of(options.inputs, [](const std::string &source) { return source.starts_with("random:"); });
}

std::vector<std::string> assumedSymbols(const runtime::Plan &plan, const InputOptions &options) {
  auto sizes = givenSizes(options);
  std::vector<std::string> assumed;
  for (const std::string &symbol : inputSymbols(plan))
    if (areInvented(options) && sizes &&
        std::ranges::none_of(*sizes, [&](const auto &size) { return size.first == symbol; }))
      assumed.push_back(symbol);
  return assumed;
}

Expected<std::shared_ptr<runtime::Device>> openDeviceFor(const InputOptions &options,
                                                         const runtime::Contents &contents) {
  const char *preferred = std::getenv("TILEWRIGHT_DEVICE");
  std::string id = !options.device.empty() ? options.device : preferred ? preferred : "";
  if (id.empty() && !contents.plans.empty()) {
    const std::string &target = contents.plans.front().target;
    id = target.starts_with("sm_") ? "cuda" : target.starts_with("gfx") ? "hip" : "host";
  }
  return runtime::openDevice(id.empty() ? "host" : id);
}

} // namespace tilewright
