// UTF-8 text as a terminal shows it: the columns that its code points take.
#ifndef REKINDLE_CLI_UTF8_H_
#define REKINDLE_CLI_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rekindle::cli {

// The functions below take text without control characters (Printable sees to that). A byte that belongs to no code
// point counts as one column. Thread-safe.

// The columns that a terminal needs for it: East Asian wide characters take two, combining ones none. What the C
// library does not know counts as two, since a line that is cut early does no harm and one that wraps does.
int ColumnsOf(std::string_view text);
// The longest beginning of it that takes at most `columns`.
std::string_view BeginningOf(std::string_view text, int columns);
// At most `columns` columns of it; where it is cut the last one shown is an ellipsis.
std::string CutTo(std::string_view text, int columns);
// What a terminal without UTF-8 can show of it: '?' stands for everything else.
std::string ToAscii(std::string_view text);
// Cut, or filled up with spaces, to exactly `columns` columns.
std::string PadTo(std::string_view text, int columns);
// Exactly `lines` lines of at most `columns` columns, broken at spaces where there are any. The last one is cut; those
// that are not needed are empty.
std::vector<std::string> Wrap(std::string_view text, int columns, size_t lines);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_UTF8_H_
