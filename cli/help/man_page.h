// Manual pages, in the man macros that groff and mandoc read.
#ifndef REKINDLE_CLI_HELP_MAN_PAGE_H_
#define REKINDLE_CLI_HELP_MAN_PAGE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/help/verb_text.h"

namespace rekindle::cli {

struct ManFacts {
  std::string version;  // "0.1.0"
  std::string date;     // "2026-01-31"
};

// The page of `verb`, which is `root` or below it; verbs below a verb stand in its page.
std::string ManPage(const VerbText& root, const VerbText& verb, const ManFacts& facts);

// "rekindle-checkpoint.1"
std::string ManPageName(const VerbText& verb);

// A file for the command and one for each verb, into a folder that is there.
absl::Status WriteManPages(const VerbText& root, const ManFacts& facts, const std::string& folder);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_HELP_MAN_PAGE_H_
