// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz files: a zip archive of .npy files, stored (np.savez) or deflated (np.savez_compressed). (PKWARE's
// APPNOTE.TXT 6.3.)
#pragma once

#include "runtime/Status.h"
#include "tools/tilewright/values/NamedTensor.h"

#include <filesystem>
#include <span>
#include <vector>

namespace tilewright {

/// All arrays of the archive in its order, named as its members without ".npy". Every offset, length and checksum is
/// verified: Code::Malformed names the member and the fault.
Expected<std::vector<NamedTensor>> readNpz(const std::filesystem::path &path);
Expected<std::vector<NamedTensor>> parseNpz(std::span<const std::byte> bytes, const std::string &name);

/// Writes an archive of stored members, under 4 GiB in all.
Status writeNpz(const std::filesystem::path &path, const std::vector<NamedTensor> &tensors);

} // namespace tilewright
