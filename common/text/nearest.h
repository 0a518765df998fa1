// Finds the known name that a mistyped one probably meant.
#ifndef REKINDLE_COMMON_TEXT_NEAREST_H_
#define REKINDLE_COMMON_TEXT_NEAREST_H_

#include <cstddef>
#include <string>
#include <vector>

namespace rekindle::common {

// Returns how many edits (insert, delete, replace) lead from `a` to `b`, which is their Levenshtein distance.
size_t EditDistance(const std::string& a, const std::string& b);

// Returns the known name with the smallest edit distance from `name`. It is empty if no distance is within half the
// length of the longer of the two names. Names over 64 characters are not compared.
std::string Nearest(const std::string& name, const std::vector<std::string>& known);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TEXT_NEAREST_H_
