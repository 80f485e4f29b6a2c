// SPDX-License-Identifier: Apache-2.0
// Prints text tables.
#include "tools/tilewright/Table.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright {

std::string Table::print() const {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < rows[r].size(); ++i)
      text += i == 0 ? fmt::format("{:<{}}", rows[r][i], widths[i]) : fmt::format("  {:>{}}", rows[r][i], widths[i]);
    text += '\n';
    if (r > 0)
      continue;
    for (size_t i = 0; i < widths.size(); ++i)
      text += std::string(widths[i] + (i ? 2 : 0), '-');
    text += '\n';
  }
  return text;
}

} // namespace tilewright
