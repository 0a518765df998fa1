// Reads UTF-8 text as code points.
#ifndef REKINDLE_COMMON_TEXT_UTF8_H_
#define REKINDLE_COMMON_TEXT_UTF8_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace rekindle::common {

// Removes the first code point from `text`, which must not be empty, and returns it. If `text` does not begin with a
// code point (a stray or missing byte, an overlong form, a surrogate, a value beyond U+10FFFF), it removes one byte and
// returns nothing. It is thread-safe.
std::optional<char32_t> TakeCodePoint(std::string_view* text);

// Returns the position of the first byte that belongs to no code point, or nothing if the whole text is UTF-8. It is
// thread-safe.
std::optional<size_t> FindInvalidUtf8(std::string_view text);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_TEXT_UTF8_H_
