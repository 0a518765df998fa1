// Text of others, as it may be shown.
#ifndef REKINDLE_COMMON_PRINTABLE_H_
#define REKINDLE_COMMON_PRINTABLE_H_

#include <string>
#include <string_view>

namespace rekindle::common {

// At most `limit` characters of printable ASCII.
inline std::string Printable(std::string_view text, size_t limit = 120) {
  std::string shown(text.substr(0, limit));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown;
}

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_PRINTABLE_H_
