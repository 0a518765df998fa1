// This file reads the lines and cells of a trace file. Its errors name the line and the column.
#ifndef REKINDLE_COORDINATOR_FLEET_SIMULATOR_CSV_H_
#define REKINDLE_COORDINATOR_FLEET_SIMULATOR_CSV_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace rekindle::fleet {

inline constexpr size_t kMaxCsvBytes = 64 << 20;
// `kMaxCsvColumns` allows a time column, and the capacity and price of 1000 zones.
inline constexpr size_t kMaxCsvColumns = 2001;
inline constexpr size_t kMaxCsvCells = 8'000'000;

// Csv reads plain CSV: no quotes, commas between cells, and one header line. Empty lines at the end are ignored. Its
// cells are views into the text, which must outlive it.
class Csv {
 public:
  // Reads a text. Returns INVALID_ARGUMENT where there is no header or no row, where a column is named twice, where a
  // row has another number of cells than the header, or where the text exceeds `kMaxCsvBytes`, `kMaxCsvColumns` or
  // `kMaxCsvCells`. Exceeded limits are found before memory is taken.
  static absl::StatusOr<Csv> Read(std::string_view text, const std::string& source);

  const std::vector<std::string_view>& header() const { return header_; }
  size_t rows() const { return cells_.size() / header_.size(); }
  std::string_view cell(size_t row, size_t column) const { return cells_[row * header_.size() + column]; }
  // Returns the number in a cell, which must be at least `low`. The error names the line and the column.
  absl::StatusOr<double> Number(size_t row, size_t column, double low) const;
  absl::Status Error(size_t row, std::string_view what) const;

 private:
  std::string source_;
  std::vector<std::string_view> header_;
  std::vector<std::string_view> cells_;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_SIMULATOR_CSV_H_
