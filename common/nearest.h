// The known name that a mistyped one probably meant.
#ifndef REKINDLE_COMMON_NEAREST_H_
#define REKINDLE_COMMON_NEAREST_H_

#include <string>
#include <vector>

namespace rekindle::common {

// The known name with the fewest edits (insert, delete, replace) from `name`; empty when none is within half of the
// longer one's length. Names over 64 characters are not compared.
std::string Nearest(const std::string& name, const std::vector<std::string>& known);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_NEAREST_H_
