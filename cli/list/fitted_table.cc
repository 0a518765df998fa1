#include "cli/list/fitted_table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/text/terminal_columns.h"

namespace rekindle::cli {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kDefaultColumns = 80;
constexpr size_t kFewestColumns = 20;
constexpr char kCut[] = "..";

size_t Width(const std::string& cell) { return static_cast<size_t>(ColumnsOf(cell)); }

std::string Cut(const std::string& cell, size_t width) {
  if (Width(cell) <= width) return cell;
  const std::string end = std::string(kCut).substr(0, width);
  return std::string(BeginningOf(cell, static_cast<int>(width - end.size()))) + end;
}

// Holds the columns of a table that are shown, and their widths.
class Layout {
 public:
  explicit Layout(const std::vector<Column>& columns) : columns_(columns) {}

  void Show(size_t column, size_t width) {
    shown_.push_back(column);
    widths_.push_back(width);
  }

  size_t Total() const {
    return std::accumulate(widths_.begin(), widths_.end(), kGap * (shown_.size() - std::min<size_t>(1, shown_.size())));
  }

  // Makes the table fit `width`. It leaves out the least important columns until the others can be made narrow enough.
  // Then it cuts the cells of columns that may be cut, beginning with the rightmost column.
  void Fit(size_t width) {
    while (Least() > width) {
      const auto last = std::max_element(shown_.begin(), shown_.end(),
                                         [&](size_t a, size_t b) { return columns_[a].rank < columns_[b].rank; });
      if (columns_[*last].rank == 0) break;
      widths_.erase(widths_.begin() + (last - shown_.begin()));
      shown_.erase(last);
    }
    for (size_t i = shown_.size(); i-- > 0 && Total() > width;) {
      const size_t least = LeastOf(i);
      widths_[i] -= std::min(widths_[i] - least, Total() - width);
    }
  }

  const std::vector<size_t>& shown() const { return shown_; }
  const std::vector<size_t>& widths() const { return widths_; }

 private:
  size_t LeastOf(size_t i) const {
    const size_t least = columns_[shown_[i]].least;
    return least == 0 ? widths_[i] : std::min(widths_[i], least);
  }
  size_t Least() const {
    size_t least = Total();
    for (size_t i = 0; i < shown_.size(); ++i) least -= widths_[i] - LeastOf(i);
    return least;
  }

  const std::vector<Column>& columns_;
  // `shown_` has the indices of the shown columns in order, and `widths_` their widths.
  std::vector<size_t> shown_;
  std::vector<size_t> widths_;
};

}  // namespace

std::string FittedTable::Text(size_t width) const {
  Layout layout(columns_);
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t widest = 0;
    for (const auto& row : rows_) widest = std::max(widest, Width(row[i]));
    if (widest > 0) layout.Show(i, std::max(widest, Width(columns_[i].head)));
  }
  if (width > 0) layout.Fit(width);
  std::string out;
  const auto add = [&](const auto& cell_of) {
    std::string line;
    for (size_t i = 0; i < layout.shown().size(); ++i) {
      const std::string cell = Cut(cell_of(layout.shown()[i]), layout.widths()[i]);
      const bool last = i + 1 == layout.shown().size();
      absl::StrAppend(&line, cell, std::string(last ? 0 : layout.widths()[i] - Width(cell) + kGap, ' '));
    }
    absl::StrAppend(&out, line, "\n");
  };
  add([&](size_t column) { return columns_[column].head; });
  for (const auto& row : rows_) add([&](size_t column) { return row[column].empty() ? "-" : row[column]; });
  return out;
}

size_t OutputColumns() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::max<size_t>(size.ws_col, kFewestColumns);
  }
  uint32_t columns = 0;
  const char* variable = std::getenv("COLUMNS");
  if (variable != nullptr && absl::SimpleAtoi(variable, &columns) && columns > 0) {
    return std::max<size_t>(columns, kFewestColumns);
  }
  return kDefaultColumns;
}

std::string Span(double seconds) {
  if (!std::isfinite(seconds) || seconds > 1e10) return "";
  const auto whole = static_cast<int64_t>(std::max(0.0, seconds));
  const auto both = [](int64_t first, const char* unit, int64_t second, const char* smaller) {
    return absl::StrCat(first, unit, second == 0 ? "" : absl::StrCat(second, smaller));
  };
  if (whole < 60) return absl::StrCat(whole, "s");
  if (whole < 3600) return absl::StrCat(whole / 60, "m");
  if (whole < 24 * 3600) return both(whole / 3600, "h", whole / 60 % 60, "m");
  if (whole < 100 * 24 * 3600) return both(whole / (24 * 3600), "d", whole / 3600 % 24, "h");
  return absl::StrCat(whole / (24 * 3600), "d");
}

}  // namespace rekindle::cli
