#include "coordinator/fleet/simulator/csv.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace rekindle::fleet {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

size_t CountCells(std::string_view line) { return 1 + static_cast<size_t>(std::count(line.begin(), line.end(), ',')); }

void AddCells(std::string_view line, std::vector<std::string_view>* cells) {
  for (const absl::string_view cell : absl::StrSplit(View(line), ',')) cells->emplace_back(cell.data(), cell.size());
}

absl::Status TooLarge(const std::string& source, size_t has, const char* what, size_t most) {
  return absl::InvalidArgumentError(absl::StrCat(source, ": has ", has, " ", what, ", more than the ", most,
                                                 " that are read: cut the file, or write longer steps"));
}

}  // namespace

absl::Status Csv::Error(size_t row, std::string_view what) const {
  return absl::InvalidArgumentError(absl::StrCat(source_, ":", row + 2, ": ", View(what)));
}

absl::StatusOr<Csv> Csv::Read(std::string_view text, const std::string& source) {
  Csv csv;
  csv.source_ = source;
  if (text.size() > kMaxCsvBytes) return TooLarge(source, text.size(), "bytes", kMaxCsvBytes);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const size_t cells = CountCells(line);
    if (number == 1) {
      if (cells > kMaxCsvColumns) return TooLarge(source, cells, "columns", kMaxCsvColumns);
      AddCells(line, &csv.header_);
      if (std::set(csv.header_.begin(), csv.header_.end()).size() != cells) {
        return absl::InvalidArgumentError(absl::StrCat(source, ":1: a column is named twice: rename or remove one"));
      }
      continue;
    }
    if (cells != csv.header_.size()) {
      return csv.Error(number - 2, absl::StrCat("has ", cells, " cells, but the header has ", csv.header_.size(),
                                                " columns: complete the row or remove it"));
    }
    if (number * cells > kMaxCsvCells) return TooLarge(source, number * cells, "cells or more", kMaxCsvCells);
    AddCells(line, &csv.cells_);
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
