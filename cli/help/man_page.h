// Makes manual pages with the man macros that groff and mandoc read.
#ifndef REKINDLE_CLI_HELP_MAN_PAGE_H_
#define REKINDLE_CLI_HELP_MAN_PAGE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/help/verb_text.h"

namespace rekindle::cli {

struct ManFacts {
  // `version` is the version of Rekindle, such as "0.1.0".
  std::string version;
  // `date` is the date on the pages, such as "2026-01-31".
  std::string date;
};

// Returns the manual page of `verb`, which is `root` or a verb below it. The page of a verb includes the verbs below
// it.
std::string ManPage(const VerbText& root, const VerbText& verb, const ManFacts& facts);

// Returns the name of a verb's manual page, such as "rekindle-checkpoint.1".
std::string ManPageName(const VerbText& verb);

// Writes one manual page for the command and one for each verb into an existing folder.
absl::Status WriteManPages(const VerbText& root, const ManFacts& facts, const std::string& folder);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_HELP_MAN_PAGE_H_
