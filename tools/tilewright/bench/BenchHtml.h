// SPDX-License-Identifier: Apache-2.0
// The results of `bench` as one self-contained HTML file.
#pragma once

#include "tools/tilewright/bench/BenchReport.h"

namespace tilewright {

std::string htmlReport(const BenchReport &report);

} // namespace tilewright
