// The processor features that host code may ask for (Plan::requirements), and whether this machine has them.
#pragma once

#include "runtime/Status.h"

#include <span>
#include <string>

namespace tilewright::runtime {

/// Ok if this machine has all of `requirements`. `artifact` names the file in the sentence otherwise: Code::Device.
Status checkCpuFeatures(std::span<const std::string> requirements, const std::string &artifact);

/// The highest x86-64 level of this machine: "x86-64-v4", ...
std::string cpuLevel();

} // namespace tilewright::runtime
