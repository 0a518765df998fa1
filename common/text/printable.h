// Makes foreign text safe to show.
#ifndef REKINDLE_COMMON_TEXT_PRINTABLE_H_
#define REKINDLE_COMMON_TEXT_PRINTABLE_H_

#include <string>
#include <string_view>

namespace rekindle::common {

// Returns at most `limit` characters of printable ASCII. Other characters become '?'.
inline std::string Printable(std::string_view text, size_t limit = 120) {
  std::string shown(text.substr(0, limit));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown;
}

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TEXT_PRINTABLE_H_
