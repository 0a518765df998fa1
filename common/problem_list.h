// Many problems of one file, told as one bounded text: by the command, and by the coordinator in a call's status.
#ifndef REKINDLE_COMMON_PROBLEM_LIST_H_
#define REKINDLE_COMMON_PROBLEM_LIST_H_

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace rekindle::common {

inline constexpr size_t kMostProblemsTold = 20;
inline constexpr size_t kMostProblemBytes = 500;  // One problem's text has at most so many.
// A status's text has at most so many: gRPC sends it in a call's trailer, of 8 KiB with all else that is in it.
inline constexpr size_t kMostStatusBytes = 6000;

// On one line, of at most so many bytes; what is left out shows as "...". Characters of UTF-8 stay whole.
std::string OneLine(const std::string& text, size_t limit = kMostProblemBytes);

// One a line, the first kMostProblemsTold of them and as many as fit; then "and 3 more", where `more` counts too. As
// many bytes as gRPC makes of the text: three of each that is not printable ASCII.
std::string ListProblems(const std::vector<std::string>& problems, size_t more = 0,
                         size_t limit = std::numeric_limits<size_t>::max());

// Takes such a text apart again; `more` gets what its last line counts, or 0.
std::vector<std::string> SplitProblems(const std::string& text, size_t* more);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_PROBLEM_LIST_H_
