#include "coordinator/fleet/csv.h"

#include <cmath>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace rekindle::fleet {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

std::vector<std::string_view> Cells(std::string_view line) {
  std::vector<std::string_view> cells;
  for (const absl::string_view cell : absl::StrSplit(View(line), ',')) cells.emplace_back(cell.data(), cell.size());
  return cells;
}

}  // namespace

absl::Status Csv::Error(size_t row, std::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(source_, ":", row + 2, ": ", View(what)));
}

absl::StatusOr<Csv> Csv::Read(std::string_view text, const std::string& source) {
  Csv csv;
  csv.source_ = source;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const std::vector<std::string_view> cells = Cells(line);
    if (number == 1) {
      csv.header_ = cells;
      if (std::set(cells.begin(), cells.end()).size() != cells.size()) {
        return absl::InvalidArgumentError(absl::StrCat(source, ":1: a column is named twice: rename or remove one"));
      }
      continue;
    }
    if (cells.size() != csv.header_.size()) {
      return csv.Error(number - 2, absl::StrCat("has ", cells.size(), " cells, but the header has ", csv.header_.size(),
                                                " columns: complete the row or remove it"));
    }
    csv.cells_.insert(csv.cells_.end(), cells.begin(), cells.end());
  }
  if (csv.header_.empty() || csv.cells_.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(source, ": has no rows: a header line and at least one row are needed"));
  }
  return csv;
}

absl::StatusOr<double> Csv::Number(size_t row, size_t column, double low) const {
  const absl::string_view text = View(cell(row, column));
  double value = 0;
  if (!absl::SimpleAtod(text, &value) || !std::isfinite(value)) {
    return Error(row, absl::StrCat("`", View(header_[column]), "` is '", text, "', not a number: correct the cell"));
  }
  if (value < low) {
    return Error(row, absl::StrCat("`", View(header_[column]), "` is ", value, ", below ", low, ": correct the cell"));
  }
  return value;
}

}  // namespace rekindle::fleet
