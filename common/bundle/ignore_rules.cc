#include "common/bundle/ignore_rules.h"

#include <utility>

namespace rekindle::common {
namespace {

constexpr std::string_view kAnyFolders = "**";

// Takes a set such as [a-z] from the pattern, whose first character is "[". Returns whether `c` is in it, or nothing if
// the set does not end.
std::optional<bool> TakeSet(std::string_view* pattern, char c) {
  std::string_view rest = pattern->substr(1);
  const bool is_negated = !rest.empty() && (rest.front() == '!' || rest.front() == '^');
  if (is_negated) rest.remove_prefix(1);
  bool is_in = false;
  for (bool is_first = true; !rest.empty(); is_first = false) {
    if (rest.front() == ']' && !is_first) {
      *pattern = rest.substr(1);
      return is_in != is_negated;
    }
    if (rest.front() == '\\' && rest.size() > 1) rest.remove_prefix(1);
    const char low = rest.front();
    char high = low;
    rest.remove_prefix(1);
    if (rest.size() > 1 && rest[0] == '-' && rest[1] != ']') {
      high = rest[1];
      rest.remove_prefix(2);
    }
    is_in = is_in || (low <= c && c <= high);
  }
  return std::nullopt;
}

// Takes the first element of the pattern, which is no star, and returns whether `c` matches it.
bool TakeElement(std::string_view* pattern, char c) {
  if (pattern->front() == '[') {
    if (const std::optional<bool> is_in = TakeSet(pattern, c)) return *is_in;
  }
  const bool is_any = pattern->front() == '?';
  if (pattern->front() == '\\' && pattern->size() > 1) pattern->remove_prefix(1);
  const char wanted = pattern->front();
  pattern->remove_prefix(1);
  return is_any || wanted == c;
}

// Returns the line without spaces at its end, as far as they have no backslash before them.
std::string_view WithoutSpaces(std::string_view line) {
  while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
  return line;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t at = 0;;) {
    const size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return parts;
    at = end + 1;
  }
}

bool MatchesPath(const std::vector<std::string>& parts, const std::vector<std::string_view>& path) {
  // `matches[i]` says whether the pattern's parts that were looked at so far match the path from part `i` on.
  std::vector<bool> matches(path.size() + 1, false);
  matches[path.size()] = true;
  bool is_last = true;
  for (size_t p = parts.size(); p-- > 0; is_last = false) {
    std::vector<bool> longer(path.size() + 1, false);
    for (size_t i = path.size() + 1; i-- > 0;) {
      if (parts[p] != kAnyFolders) {
        longer[i] = i < path.size() && matches[i + 1] && MatchesGlob(parts[p], path[i]);
      } else if (is_last) {
        // Two stars at the end stand for everything in the folder, and not for the folder.
        longer[i] = i < path.size();
      } else {
        longer[i] = matches[i] || (i < path.size() && longer[i + 1]);
      }
    }
    matches = std::move(longer);
  }
  return matches[0];
}

}  // namespace

bool MatchesGlob(std::string_view pattern, std::string_view name) {
  // After a mismatch the newest star takes one character more of the name.
  std::optional<std::string_view> after_star, star_name;
  while (true) {
    if (!pattern.empty() && pattern.front() == '*') {
      pattern.remove_prefix(1);
      after_star = pattern;
      star_name = name;
      continue;
    }
    if (name.empty() && pattern.empty()) return true;
    std::string_view rest = pattern;
    if (!name.empty() && !pattern.empty() && TakeElement(&rest, name.front())) {
      pattern = rest;
      name.remove_prefix(1);
      continue;
    }
    if (!after_star || star_name->empty()) return false;
    star_name->remove_prefix(1);
    name = *star_name;
    pattern = *after_star;
  }
}

IgnoreRules::IgnoreRules(std::string_view text) {
  for (std::string_view line : Split(text, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = WithoutSpaces(line);
    if (line.empty() || line.front() == '#') continue;
    Rule rule;
    rule.keeps = line.front() == '!';
    if (rule.keeps) line.remove_prefix(1);
    rule.only_folders = line.ends_with('/');
    if (rule.only_folders) line.remove_suffix(1);
    // A pattern without a slash concerns names in every folder.
    if (line.find('/') == std::string_view::npos) rule.parts.emplace_back(kAnyFolders);
    for (const std::string_view part : Split(line, '/')) {
      if (!part.empty()) rule.parts.emplace_back(part);
    }
    if (!line.empty()) rules_.push_back(std::move(rule));
  }
}

std::optional<bool> IgnoreRules::Ignores(std::string_view path, bool is_folder) const {
  const std::vector<std::string_view> parts = Split(path, '/');
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (rule->only_folders && !is_folder) continue;
    if (MatchesPath(rule->parts, parts)) return !rule->keeps;
  }
  return std::nullopt;
}

}  // namespace rekindle::common
