// Finds what may come next on a command line. The completion of all shells uses it.
#ifndef REKINDLE_CLI_HELP_COMPLETION_H_
#define REKINDLE_CLI_HELP_COMPLETION_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/help/verb_text.h"

namespace rekindle::cli {

// Lists the kinds of things whose names may complete a command line.
enum class Names { kJobs, kNodes, kPools, kContexts };

struct Candidate {
  std::string word;
  std::string description;
};

struct Completion {
  std::vector<Candidate> candidates;
  // If `files` is set, the shell also offers files. If `folders` is set, it also offers folders.
  bool files = false;
  bool folders = false;
};

// Holds the flags of a command line that say where the coordinator is, by name: {"--endpoint", "host:7070"}.
using GivenFlags = std::map<std::string, std::string>;
using NamesOf = std::function<std::vector<std::string>(Names, const GivenFlags&)>;

// Completes the last of `words`, which are the words after the command's name. The last one may be empty. `names_of`
// returns the names of one kind, such as jobs. It is called only if a name of that kind may come next.
Completion Complete(const VerbText& root, const std::vector<std::string>& words, const NamesOf& names_of);

// Returns the candidates as text for the shells' scripts: one candidate per line, with a tab before its description,
// and the lines ":files" and ":folders".
std::string ToLines(const Completion& completion);

// Returns the script that makes a shell call the completion. `shell` is "bash", "zsh" or "fish".
std::string CompletionScript(const std::string& shell);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_HELP_COMPLETION_H_
