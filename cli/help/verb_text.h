// Describes a verb as help, man page and completion show it. It is plain data that is read from the CLI11 tree.
#ifndef REKINDLE_CLI_HELP_VERB_TEXT_H_
#define REKINDLE_CLI_HELP_VERB_TEXT_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace rekindle::cli {

struct ArgumentText {
  // `usage` names the arguments of a verb: "JOB", "[JOB]", "FILE..." or several of these, such as "JOB [CHECKPOINT]
  // DIR".
  std::string usage;
  // `names` has the names in `usage` in order, without brackets and dots.
  std::vector<std::string> names;
  // If `choices` is not empty, the argument has to be one of them.
  std::vector<std::string> choices;
  std::string description;
  // If `repeated` is set, the last of the verb's arguments takes all words that follow.
  bool repeated = false;
};

struct FlagText {
  // `names` has the names of a flag, such as "-o" and "--output".
  std::vector<std::string> names;
  // `value` names the value of a flag, such as "FILE" or "text|json". It is empty if the flag takes no value.
  std::string value;
  // If `choices` is not empty, the flag's value has to be one of them.
  std::vector<std::string> choices;
  std::string description;
  std::string default_value;
  // `needs` names the flags without which the flag is not allowed.
  std::string needs;
  // `excludes` names the flags with which the flag is not allowed.
  std::string excludes;
  std::string group;
  bool required = false;
  bool repeated = false;
};

struct VerbText {
  // `path` is the verb with those above it, such as "rekindle checkpoint ls".
  std::string path;
  // `name` is the verb alone, such as "ls".
  std::string name;
  // The help of the verb's parent lists it under the group `group`.
  std::string group;
  std::string description;
  std::string footer;
  std::vector<ArgumentText> arguments;
  std::vector<FlagText> flags;
  std::vector<VerbText> verbs;
  // If `needs_verb` is set, the verb does nothing by itself, so one of the verbs below it must follow.
  bool needs_verb = false;
};

// Describes `app` and all verbs below it, without hidden verbs and hidden flags.
VerbText Describe(const CLI::App& app);

// Finds the verb at `path` in the whole tree, for example {"checkpoint", "ls"}. Returns null if there is none.
const VerbText* FindVerb(const VerbText& root, const std::vector<std::string>& path);

// Returns the usage of a verb, such as "rekindle get [FLAGS] JOB".
std::string UsageOf(const VerbText& verb);
// Returns a flag with its names and its value, such as "-o, --output text|json".
std::string HeadOf(const FlagText& flag);
// Returns the description of a flag, whether the flag is required or may be repeated, and its default.
std::string NotesOf(const FlagText& flag);

// Holds the flags of one group of a verb's help, in the order of their declaration.
struct FlagGroup {
  std::string name;
  std::vector<const FlagText*> flags;
};
std::vector<FlagGroup> GroupsOf(const std::vector<FlagText>& flags);
struct VerbGroup {
  std::string name;
  std::vector<const VerbText*> verbs;
};
std::vector<VerbGroup> GroupsOf(const std::vector<VerbText>& verbs);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_HELP_VERB_TEXT_H_
