// Finds inputs and the device of a run.
#include "backend/driver/InputOptions.h"

#include "backend/driver/TensorFiles.h"

#include <cstdlib>
#include <fmt/format.h>

namespace fs = std::filesystem;

namespace tilewright {

void addInputOptions(CLI::App &command, InputOptions &options) {
  command.add_option("--inputs", options.inputs, "a test data folder, NAME=FILE.npy, or random:SEED (the default, random:0)")->delimiter(',');
  command.add_option("--dim", options.sizes, "size of a symbolic dimension of invented inputs, batch=8; 1 where absent")->delimiter(',');
  command.add_option("--device", options.device, "host, cuda or cuda:N; by default what runs the first target");
}

static Expected<std::vector<std::pair<std::string, int64_t>>> parseSizes(const std::vector<std::string> &texts) {
  std::vector<std::pair<std::string, int64_t>> sizes;
  for (const std::string &text : texts) {
    size_t equal = text.find('=');
    std::string number = equal == std::string::npos ? "" : text.substr(equal + 1);
    if (number.empty() || number.size() > 12 || number.find_first_not_of("0123456789") != std::string::npos)
      return Status(Code::Usage, fmt::format("--dim {}: expected NAME=SIZE", text));
    sizes.emplace_back(text.substr(0, equal), std::stoll(number));
  }
  return sizes;
}

Expected<std::vector<Tensor>> readInputs(const runtime::Plan &plan, const InputOptions &options) {
  auto sizes = parseSizes(options.sizes);
  if (!sizes)
    return sizes.status();
  uint64_t seed = 0;
  std::vector<NamedTensor> given;
  for (const std::string &source : options.inputs) {
    if (source.starts_with("random:")) {
      seed = std::strtoull(source.c_str() + 7, nullptr, 10);
    } else if (size_t equal = source.find('='); equal != std::string::npos) {
      Expected<NamedTensor> tensor = readTensorFile(source.substr(equal + 1));
      if (!tensor)
        return tensor.status();
      given.push_back({source.substr(0, equal), std::move(tensor->tensor)});
    } else if (fs::is_directory(source)) {
      Expected<std::vector<NamedTensor>> data = readTestData(testDataSet(source), "input");
      if (!data)
        return data.status();
      given.insert(given.end(), data->begin(), data->end());
    } else {
      return Status(Code::Io, fmt::format("--inputs {}: is no folder, and not of the form NAME=FILE.npy or random:SEED", source));
    }
  }
  if (given.empty() && !plan.inputs.empty())
    return randomInputs(plan, seed, *sizes);
  return orderInputs(plan, given);
}

Expected<std::shared_ptr<runtime::Device>> openDeviceFor(const InputOptions &options, const runtime::Contents &contents) {
  const char *preferred = std::getenv("TILEWRIGHT_DEVICE");
  std::string id = !options.device.empty() ? options.device : preferred ? preferred : "";
  if (id.empty() && !contents.plans.empty()) {
    const std::string &target = contents.plans.front().target;
    id = target.starts_with("sm_") ? "cuda" : target.starts_with("gfx") ? "hip" : "host";
  }
  return runtime::openDevice(id.empty() ? "host" : id);
}

} // namespace tilewright
