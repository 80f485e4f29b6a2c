// What `bench` tells as one HTML file, to be sent and opened anywhere: nothing in it is loaded from elsewhere.
#pragma once

#include "tools/tilewright/bench/BenchReport.h"

namespace tilewright {

std::string htmlReport(const BenchReport &report);

} // namespace tilewright
