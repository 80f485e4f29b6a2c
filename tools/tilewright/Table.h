// A text table with columns as wide as their cells, numbers to the right.
#pragma once

#include <string>
#include <vector>

namespace tilewright {

class Table {
public:
  explicit Table(std::vector<std::string> header) : rows{std::move(header)} {}

  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  /// Header, a rule, then the rows; the first column to the left, the others to the right.
  std::string print() const;

private:
  std::vector<std::vector<std::string>> rows;
};

} // namespace tilewright
