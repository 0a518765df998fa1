// Formats many problems of one file as one bounded text, for the command and for the status of the coordinator's call.
#ifndef REKINDLE_COMMON_TEXT_PROBLEM_LIST_H_
#define REKINDLE_COMMON_TEXT_PROBLEM_LIST_H_

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace rekindle::common {

inline constexpr size_t kMostProblemsTold = 20;
// The text of one problem has at most `kMostProblemBytes`.
inline constexpr size_t kMostProblemBytes = 500;
// The text of a status has at most `kMostStatusBytes`. gRPC sends it in a call's trailer, which may have 8 KiB in all.
inline constexpr size_t kMostStatusBytes = 6000;

// Returns the text on one line with at most `limit` bytes. "..." stands for what is left out. Characters of UTF-8 stay
// whole.
std::string OneLine(const std::string& text, size_t limit = kMostProblemBytes);

// Lists the problems, one per line: the first kMostProblemsTold of them, or as many as fit. A last line like "and 3
// more" counts the problems that are left out, and also `more` problems that `problems` does not have. `limit` counts
// bytes as gRPC sends them, which are three for each byte that is not printable ASCII.
std::string ListProblems(const std::vector<std::string>& problems, size_t more = 0,
                         size_t limit = std::numeric_limits<size_t>::max());

// Splits a text of ListProblems into its problems. `more` receives the count of its last line, or 0.
std::vector<std::string> SplitProblems(const std::string& text, size_t* more);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TEXT_PROBLEM_LIST_H_
