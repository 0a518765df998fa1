// Prints a table that fits a terminal.
#ifndef REKINDLE_CLI_LIST_FITTED_TABLE_H_
#define REKINDLE_CLI_LIST_FITTED_TABLE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace rekindle::cli {

struct Column {
  std::string head;
  // If the table is wider than the terminal, the column with the highest `rank` is left out first. A column of rank 0
  // always stays.
  int rank = 0;
  // The cells may be cut to `least` columns of the terminal. With 0 they are never cut.
  size_t least = 0;
};

// Collects the rows of a table and prints them. It is thread-compatible.
class FittedTable {
 public:
  explicit FittedTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Adds a row with one cell per column. An empty cell is printed as "-". A column that is empty in all rows is left
  // out.
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  // Returns the table in lines of at most `width` columns, as far as the columns of rank 0 can be cut to that. If
  // `width` is 0, no cell is cut, and only empty columns are left out.
  std::string Text(size_t width) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Returns the width in columns of the terminal that is stdout. If stdout is no terminal, returns the variable COLUMNS,
// or 80 without it.
size_t OutputColumns();

// Returns a duration with at most two units, such as "45s", "12m", "3h20m" or "2d4h".
std::string Span(double seconds);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_LIST_FITTED_TABLE_H_
