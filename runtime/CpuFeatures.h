// SPDX-License-Identifier: Apache-2.0
// The processor features that host code may ask for (Plan::requirements), and whether this machine has them.
#pragma once

#include "runtime/Status.h"

#include <span>
#include <string>

namespace tilewright::runtime {

/// Code::Device, with a sentence that names the file `artifact`, unless this machine has all of `requirements`.
Status checkCpuFeatures(std::span<const std::string> requirements, const std::string &artifact);

/// The highest x86-64 level of this machine: "x86-64-v4", ...
std::string cpuLevel();

} // namespace tilewright::runtime
