// A table that fits a terminal.
#ifndef REKINDLE_CLI_LIST_FITTED_TABLE_H_
#define REKINDLE_CLI_LIST_FITTED_TABLE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace rekindle::cli {

struct Column {
  std::string head;
  int rank = 0;      // Where there is no room the highest goes first; 0 always stays.
  size_t least = 0;  // Its cells may be cut to so many columns of the terminal; 0: they are never cut.
};

// Thread-compatible.
class FittedTable {
 public:
  explicit FittedTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell a column; an empty one says nothing, and is printed as "-". A column that says nothing in any row is left
  // out.
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  // Lines of at most `width` columns, as far as the columns of rank 0 can be cut to that; 0: nothing is cut or left out
  // but what says nothing.
  std::string Text(size_t width) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// The columns of the terminal that stdout is, else COLUMNS, else 80.
size_t OutputColumns();

// "45s", "12m", "3h20m", "2d4h": two units at most.
std::string Span(double seconds);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_LIST_FITTED_TABLE_H_
