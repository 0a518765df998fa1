#include "cli/text/terminal_columns.h"

#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <optional>

#include "common/text/utf8.h"

namespace rekindle::cli {
namespace {

constexpr std::string_view kEllipsis = "…";

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

int ColumnsOfPoint(char32_t point) {
  if (point < 0x80) return 1;
  // wcwidth() knows only ASCII in the C locale, in which `rekindle` runs everywhere.
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (utf8 == nullptr) return 2;
  const locale_t before = uselocale(utf8);
  const int columns = wcwidth(static_cast<wchar_t>(point));
  uselocale(before);
  return columns < 0 ? 2 : columns;
}

struct Beginning {
  size_t bytes = 0;
  int columns = 0;
};

// Returns the longest beginning of `text` that takes at most `columns` columns.
Beginning LongestWithin(std::string_view text, int columns) {
  Beginning taken;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::optional<char32_t> point = common::TakeCodePoint(&rest);
    const int more = point ? ColumnsOfPoint(*point) : 1;
    if (taken.columns + more > columns) break;
    taken = {.bytes = text.size() - rest.size(), .columns = taken.columns + more};
  }
  return taken;
}

}  // namespace

std::string_view BeginningOf(std::string_view text, int columns) {
  return text.substr(0, LongestWithin(text, columns).bytes);
}

int ColumnsOf(std::string_view text) {
  if (IsAscii(text)) return static_cast<int>(text.size());
  int columns = 0;
  while (!text.empty()) {
    const std::optional<char32_t> point = common::TakeCodePoint(&text);
    columns += point ? ColumnsOfPoint(*point) : 1;
  }
  return columns;
}

std::string CutTo(std::string_view text, int columns) {
  if (ColumnsOf(text) <= columns) return std::string(text);
  if (columns < 1) return "";
  return std::string(BeginningOf(text, columns - 1)).append(kEllipsis);
}

std::string ToAscii(std::string_view text) {
  std::string ascii;
  while (!text.empty()) {
    const std::optional<char32_t> point = common::TakeCodePoint(&text);
    ascii += point && *point < 0x80 ? static_cast<char>(*point) : '?';
  }
  return ascii;
}

std::string PadTo(std::string_view text, int columns) {
  std::string padded = CutTo(text, columns);
  padded.append(static_cast<size_t>(std::max(0, columns - ColumnsOf(padded))), ' ');
  return padded;
}

std::vector<std::string> Wrap(std::string_view text, int columns, size_t lines) {
  std::vector<std::string> wrapped;
  while (wrapped.size() + 1 < lines && ColumnsOf(text) > columns) {
    const size_t fits = LongestWithin(text, columns).bytes;
    if (fits == 0) break;
    const size_t space = text.rfind(' ', fits);
    const bool at_space = space != std::string_view::npos && space > 0;
    wrapped.emplace_back(text.substr(0, at_space ? space : fits));
    text.remove_prefix(at_space ? space + 1 : fits);
  }
  if (wrapped.size() < lines) wrapped.push_back(CutTo(text, columns));
  wrapped.resize(lines);
  return wrapped;
}

}  // namespace rekindle::cli
