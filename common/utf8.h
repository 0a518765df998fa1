// UTF-8 text as code points.
#ifndef REKINDLE_COMMON_UTF8_H_
#define REKINDLE_COMMON_UTF8_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace rekindle::common {

// Takes the first code point off `text`, which must not be empty. Where none begins there (a stray or missing byte, an
// overlong form, a surrogate, a value beyond U+10FFFF) one byte is taken, and nothing is returned. Thread-safe.
std::optional<char32_t> TakeCodePoint(std::string_view* text);

// Where the first byte stands that belongs to no code point; nothing: all of the text is UTF-8. Thread-safe.
std::optional<size_t> FindInvalidUtf8(std::string_view text);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_UTF8_H_
