// Reads files such as .gitignore, which say what of a folder is left out.
#ifndef REKINDLE_COMMON_BUNDLE_IGNORE_RULES_H_
#define REKINDLE_COMMON_BUNDLE_IGNORE_RULES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rekindle::common {

// Holds the rules of one file, with the syntax and meaning of a .gitignore. It is a value.
class IgnoreRules {
 public:
  explicit IgnoreRules(std::string_view text);

  // Returns whether the last rule that concerns the path leaves it out (true) or keeps it (false), or nothing if no
  // rule concerns it. `path` is relative to the folder of the rules, with "/" between its parts.
  std::optional<bool> Ignores(std::string_view path, bool is_folder) const;

 private:
  struct Rule {
    std::vector<std::string> parts;
    bool keeps = false;
    bool only_folders = false;
  };

  std::vector<Rule> rules_;
};

// Returns whether the name, which has no "/", matches a pattern with *, ?, [...] and backslashes. It is thread-safe.
bool MatchesGlob(std::string_view pattern, std::string_view name);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_BUNDLE_IGNORE_RULES_H_
