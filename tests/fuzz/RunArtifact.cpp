// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/RunArtifact.h"
#include "runtime/Devices.h"

#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/Checksum.h"
#include "runtime/artifact/Format.h"
#include "runtime/execute/Context.h"
#include "runtime/execute/Program.h"
#include "tools/tilewright/values/TensorFiles.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace tilewright::runtime;

namespace tilewright::test {

using Bytes = std::vector<std::byte>;

/// Corrects every checksum that lies inside the file; a table that does not is left as it is, to be refused.
static void repairChecksums(Bytes &bytes) {
  format::Header header;
  if (bytes.size() < sizeof header)
    return;
  std::memcpy(&header, bytes.data(), sizeof header);
  uint64_t table = uint64_t(header.sectionCount) * sizeof(format::SectionEntry);
  if (table > bytes.size() - sizeof header)
    return;
  for (uint32_t i = 0; i < header.sectionCount; ++i) {
    std::byte *at = bytes.data() + sizeof header + i * sizeof(format::SectionEntry);
    format::SectionEntry entry;
    std::memcpy(&entry, at, sizeof entry);
    if (entry.offset > bytes.size() || entry.bytes > bytes.size() - entry.offset)
      continue;
    entry.checksum = sectionChecksum(std::span(bytes).subspan(entry.offset, entry.bytes));
    std::memcpy(at, &entry, sizeof entry);
  }
  header.tableChecksum = 0;
  std::memcpy(bytes.data(), &header, sizeof header);
  header.tableChecksum = hashBytes(std::span(bytes).first(sizeof header + table));
  std::memcpy(bytes.data(), &header, sizeof header);
}

/// Whether a run needs no more than a few megabytes. Larger mutated sizes are not faults, and are skipped.
static bool isSmall(const std::vector<Tensor> &inputs) {
  int64_t bytes = 0;
  for (const Tensor &input : inputs)
    bytes += static_cast<int64_t>(input.byteSize());
  return bytes < int64_t(16) << 20;
}

static Status run(const Artifact &artifact, const std::string &mode, const std::shared_ptr<Device> &device) {
  Expected<std::shared_ptr<const Program>> program = Program::create(artifact, device->info(), mode);
  TILEWRIGHT_TRY(program);
  bool ownCode = !(*program)->plan().kernels.empty();
  if (ownCode && device->info().hostMemory)
    return {};
  Expected<std::vector<Tensor>> inputs = randomInputs((*program)->plan(), 1, {});
  TILEWRIGHT_TRY(inputs);
  if (!isSmall(*inputs))
    return {};
  Expected<std::unique_ptr<Context>> context = Context::create(*program, device);
  TILEWRIGHT_TRY(context);
  return (*context)->run(*inputs).status();
}

Status openAndRun(std::span<const std::byte> bytes) {
  Bytes repaired(bytes.begin(), bytes.end());
  repairChecksums(repaired);
  Expected<Artifact> artifact = Artifact::fromBytes(repaired);
  TILEWRIGHT_TRY(artifact);
  Status last;
  for (const Plan &plan : artifact->contents().plans)
    for (const std::string &id : {std::string("host"), "null:" + plan.target})
      if (Expected<std::shared_ptr<Device>> device = openDevice(id))
        if (Status status = run(*artifact, plan.mode, *device); !status.ok())
          last = status;
  return last;
}

} // namespace tilewright::test
