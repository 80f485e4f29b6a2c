// SPDX-License-Identifier: Apache-2.0
// A text table with columns as wide as their widest cell.
#pragma once

#include <string>
#include <vector>

namespace tilewright {

class Table {
public:
  explicit Table(std::vector<std::string> header) : rows{std::move(header)} {}

  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  /// The header, a rule, then the rows. The first column is left-aligned, the others right-aligned.
  std::string print() const;

private:
  std::vector<std::vector<std::string>> rows;
};

} // namespace tilewright
