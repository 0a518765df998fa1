#include "common/text/utf8.h"

namespace rekindle::common {
namespace {

int LengthAfter(unsigned char first) {
  if (first < 0x80) return 1;
  // Bytes from 0x80 to 0xC1 are in the middle of a character or start an overlong form.
  if (first < 0xC2) return 0;
  if (first < 0xE0) return 2;
  if (first < 0xF0) return 3;
  return first < 0xF5 ? 4 : 0;
}

bool IsCodePoint(char32_t value, int length) {
  if (length == 3 && value < 0x800) return false;
  if (length == 4 && value < 0x10000) return false;
  return value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
}

}  // namespace

std::optional<char32_t> TakeCodePoint(std::string_view* text) {
  const auto byte = [text](int i) { return static_cast<unsigned char>((*text)[static_cast<size_t>(i)]); };
  const int length = LengthAfter(byte(0));
  bool whole = length > 0 && text->size() >= static_cast<size_t>(length);
  char32_t point = length <= 1 ? byte(0) : byte(0) & (0x7FU >> length);
  for (int i = 1; whole && i < length; ++i) {
    whole = (byte(i) & 0xC0) == 0x80;
    point = point << 6 | (byte(i) & 0x3F);
  }
  whole = whole && IsCodePoint(point, length);
  text->remove_prefix(whole ? static_cast<size_t>(length) : 1);
  return whole ? std::optional(point) : std::nullopt;
}

std::optional<size_t> FindInvalidUtf8(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t at = text.size() - rest.size();
    if (!TakeCodePoint(&rest)) return at;
  }
  return std::nullopt;
}

}  // namespace rekindle::common
