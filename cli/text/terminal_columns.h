// Measures UTF-8 text as a terminal shows it, in columns.
#ifndef REKINDLE_CLI_TEXT_TERMINAL_COLUMNS_H_
#define REKINDLE_CLI_TEXT_TERMINAL_COLUMNS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rekindle::cli {

// The functions below take text without control characters (see Printable). A byte that belongs to no code point counts
// as one column. The functions are thread-safe.

// Returns the columns that a terminal needs for the text. East Asian wide characters take two, combining ones none. A
// character that the C library does not know counts as two, since a line that is cut early does no harm, but one that
// wraps does.
int ColumnsOf(std::string_view text);
// Returns the longest beginning of the text that takes at most `columns` columns.
std::string_view BeginningOf(std::string_view text, int columns);
// Returns at most `columns` columns of the text. If it is cut, the last column is an ellipsis.
std::string CutTo(std::string_view text, int columns);
// Returns what a terminal without UTF-8 can show of the text. '?' stands for everything else.
std::string ToAscii(std::string_view text);
// Cuts the text, or fills it up with spaces, to exactly `columns` columns.
std::string PadTo(std::string_view text, int columns);
// Breaks the text into exactly `lines` lines of at most `columns` columns, at spaces if there are any. The last line is
// cut if needed. Lines that are not needed are empty.
std::vector<std::string> Wrap(std::string_view text, int columns, size_t lines);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_TEXT_TERMINAL_COLUMNS_H_
