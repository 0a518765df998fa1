// What may stand next on a command line: the one answer for all shells.
#ifndef REKINDLE_CLI_HELP_COMPLETION_H_
#define REKINDLE_CLI_HELP_COMPLETION_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/help/verb_text.h"

namespace rekindle::cli {

// What a value is the name of.
enum class Names { kJobs, kNodes, kPools, kContexts };

struct Candidate {
  std::string word;
  std::string description;
};

struct Completion {
  std::vector<Candidate> candidates;
  bool files = false;    // Also whatever files the shell finds ...
  bool folders = false;  // ... or folders.
};

// The flags of a command line that say where the coordinator is, by name: {"--endpoint", "host:7070"}.
using GivenFlags = std::map<std::string, std::string>;
using NamesOf = std::function<std::vector<std::string>(Names, const GivenFlags&)>;

// `words`: those after the command's name, the last one being completed; it may be empty. `names_of` is asked only
// where such a name may stand.
Completion Complete(const VerbText& root, const std::vector<std::string>& words, const NamesOf& names_of);

// Text for the shells' scripts: a candidate a line, with a tab before its description; ":files" and ":folders".
std::string ToLines(const Completion& completion);

// The script that makes a shell ask: of "bash", "zsh" or "fish".
std::string CompletionScript(const std::string& shell);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_HELP_COMPLETION_H_
