#include "common/text/problem_list.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace rekindle::common {
namespace {

constexpr char kAnd[] = "and ";
constexpr char kMore[] = " more";
// The last line of a list of problems, such as "and 12345 more", takes at most `kTailBytes` bytes.
constexpr size_t kTailBytes = 40;

size_t SentBytes(const std::string& text) {
  constexpr size_t kEscaped = 3;
  size_t bytes = 0;
  for (const char c : text) bytes += c >= ' ' && c <= '~' && c != '%' ? 1 : kEscaped;
  return bytes;
}

// Returns whether the byte `c` continues a character that began before it.
bool IsWithinCharacter(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string OneLine(const std::string& text, size_t limit) {
  static const std::string cut = "...";
  std::string line = text;
  if (text.size() > limit) {
    size_t end = limit - std::min(limit, cut.size());
    while (end > 0 && IsWithinCharacter(text[end])) --end;
    line = text.substr(0, end) + cut;
  }
  for (char& c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return line;
}

std::string ListProblems(const std::vector<std::string>& problems, size_t more, size_t limit) {
  std::string text;
  size_t told = 0, bytes = 0;
  for (const std::string& problem : problems) {
    const size_t grown = bytes + SentBytes(problem + "\n");
    if (told == kMostProblemsTold || (told > 0 && grown > limit - std::min(limit, kTailBytes))) break;
    absl::StrAppend(&text, told > 0 ? "\n" : "", problem);
    bytes = grown;
    ++told;
  }
  more += problems.size() - told;
  if (more > 0) absl::StrAppend(&text, told > 0 ? "\n" : "", kAnd, more, kMore);
  return text;
}

std::vector<std::string> SplitProblems(const std::string& text, size_t* more) {
  std::vector<std::string> problems = absl::StrSplit(text, '\n');
  absl::string_view last = problems.back();
  uint64_t count = 0;
  const bool counts =
      absl::ConsumePrefix(&last, kAnd) && absl::ConsumeSuffix(&last, kMore) && absl::SimpleAtoi(last, &count);
  *more = counts ? count : 0;
  if (counts) problems.pop_back();
  return problems;
}

}  // namespace rekindle::common
