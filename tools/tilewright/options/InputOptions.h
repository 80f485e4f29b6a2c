// SPDX-License-Identifier: Apache-2.0
// Options for inputs: --inputs, and sizes of symbolic dimensions for random ones.
#pragma once

#include "tools/tilewright/values/TensorFiles.h"

#include "runtime/Tensor.h"
#include "runtime/execute/Program.h"

#include <CLI/CLI.hpp>

namespace tilewright {

struct InputOptions {
  std::vector<std::string> inputs; // DIR, NAME=FILE.npy, FILE.npz, NAME=FILE.npz or random:SEED
  std::vector<std::string> sizes;  // batch=8
  std::optional<uint64_t> seed;    // of random inputs
  std::string device;
};

void addInputOptions(CLI::App &command, InputOptions &options);

/// The sizes of symbols that --dim gives.
Expected<std::vector<std::pair<std::string, int64_t>>> givenSizes(const InputOptions &options);

/// The tensors of --inputs if all of them have names; none if they cannot be read or are random.
std::vector<NamedTensor> namedInputs(const InputOptions &options);

/// The inputs for `plan`, in its order.
Expected<std::vector<Tensor>> readInputs(const runtime::Plan &plan, const InputOptions &options);

/// Whether the inputs are random: --inputs gives none.
bool areInvented(const InputOptions &options);

/// The symbolic sizes that are 1 in random inputs because no --dim gives them.
std::vector<std::string> assumedSymbols(const runtime::Plan &plan, const InputOptions &options);

/// Opens --device, else TILEWRIGHT_DEVICE, else a device that the first target's code runs on.
Expected<std::shared_ptr<runtime::Device>> openDeviceFor(const InputOptions &options,
                                                         const runtime::Contents &contents);

} // namespace tilewright
