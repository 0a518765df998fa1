#include "cli/text/safe_text.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "common/text/utf8.h"

namespace rekindle::cli {
namespace {

bool TurnsTheWriting(char32_t point) {
  return point == 0x061C || point == 0x200E || point == 0x200F || (point >= 0x202A && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

bool MayBeShown(char32_t point) {
  const bool control = point < 0x20 || (point >= 0x7F && point < 0xA0);
  const bool ends_line = point == 0x2028 || point == 0x2029;
  return point == '\t' || (!control && !ends_line && !TurnsTheWriting(point));
}

}  // namespace

std::string Printable(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view before = rest;
    const std::optional<char32_t> point = common::TakeCodePoint(&rest);
    if (point && MayBeShown(*point)) {
      out.append(before.substr(0, before.size() - rest.size()));
    } else {
      out += '?';
    }
  }
  return out;
}

std::string PrintableLines(const std::string& text) {
  std::string out;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    out += Printable(text.substr(begin, end - begin));
    if (end < text.size()) out += '\n';
    begin = end + 1;
  }
  return out;
}

}  // namespace rekindle::cli
