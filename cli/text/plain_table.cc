#include "cli/text/plain_table.h"

#include <algorithm>

#include "cli/text/terminal_columns.h"

namespace rekindle::cli {

std::string Table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], static_cast<size_t>(ColumnsOf(row[i])));
  }
  std::string out;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - static_cast<size_t>(ColumnsOf(row[i])) + 2, ' ');
    }
    out += '\n';
  }
  return out;
}

}  // namespace rekindle::cli
