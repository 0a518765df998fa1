// Lines and cells of a trace file, with errors that name the place.
#ifndef REKINDLE_COORDINATOR_FLEET_CSV_H_
#define REKINDLE_COORDINATOR_FLEET_CSV_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace rekindle::fleet {

inline constexpr size_t kMaxCsvBytes = 64 << 20;
inline constexpr size_t kMaxCsvColumns = 2001;  // A time, and capacity and price of 1000 zones.
inline constexpr size_t kMaxCsvCells = 8'000'000;

// Plain CSV: no quotes, comma, one header line; empty lines at the end are ignored. Views into the text given.
class Csv {
 public:
  // INVALID_ARGUMENT where there is no header or no row, a column is named twice, a row has another number of cells, or
  // there is more than the limits above allow: that is found before memory is taken for it.
  static absl::StatusOr<Csv> Read(std::string_view text, const std::string& source);

  const std::vector<std::string_view>& header() const { return header_; }
  size_t rows() const { return cells_.size() / header_.size(); }
  std::string_view cell(size_t row, size_t column) const { return cells_[row * header_.size() + column]; }
  // A number from `low` on; the error names the line and the column.
  absl::StatusOr<double> Number(size_t row, size_t column, double low) const;
  absl::Status Error(size_t row, std::string_view what) const;

 private:
  std::string source_;
  std::vector<std::string_view> header_;
  std::vector<std::string_view> cells_;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_CSV_H_
