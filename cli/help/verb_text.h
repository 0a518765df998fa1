// A verb as help, man page and completion show it: plain data, read off the CLI11 tree.
#ifndef REKINDLE_CLI_HELP_VERB_TEXT_H_
#define REKINDLE_CLI_HELP_VERB_TEXT_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace rekindle::cli {

struct ArgumentText {
  std::string usage;                 // "JOB", "[JOB]", "FILE...", or several: "JOB [CHECKPOINT] DIR".
  std::vector<std::string> names;    // The names in `usage`, without brackets and dots, in order.
  std::vector<std::string> choices;  // Where only these are allowed.
  std::string description;
  bool repeated = false;  // The last name takes all that follow.
};

struct FlagText {
  std::vector<std::string> names;    // "-o", "--output"
  std::string value;                 // "FILE", "text|json"; empty: takes none.
  std::vector<std::string> choices;  // Where only these are allowed.
  std::string description;
  std::string default_value;
  std::string needs;     // Names of the flags that it goes with alone.
  std::string excludes;  // ... and of those that it does not go with.
  std::string group;
  bool required = false;
  bool repeated = false;
};

struct VerbText {
  std::string path;   // "rekindle checkpoint ls"
  std::string name;   // "ls"
  std::string group;  // The group of verbs under which its parent's help lists it.
  std::string description;
  std::string footer;
  std::vector<ArgumentText> arguments;
  std::vector<FlagText> flags;
  std::vector<VerbText> verbs;
  bool needs_verb = false;  // It does nothing by itself.
};

// With all verbs below it, but for hidden ones and hidden flags.
VerbText Describe(const CLI::App& app);

// Finds in the whole tree the verb at `path`, as {"checkpoint", "ls"}; null where there is none.
const VerbText* FindVerb(const VerbText& root, const std::vector<std::string>& path);

// "rekindle get [FLAGS] JOB"
std::string UsageOf(const VerbText& verb);
// "-o, --output text|json"
std::string HeadOf(const FlagText& flag);
// The description, with what is required, repeated or the default.
std::string NotesOf(const FlagText& flag);

// The flags of a kind, in the order in which they were declared.
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
