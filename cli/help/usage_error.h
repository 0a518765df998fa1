// Explains what is wrong with a command line.
#ifndef REKINDLE_CLI_HELP_USAGE_ERROR_H_
#define REKINDLE_CLI_HELP_USAGE_ERROR_H_

#include <CLI/CLI.hpp>
#include <string>

namespace rekindle::cli {

struct UsageError {
  // `message` is empty if a verb is missing and nothing else is wrong. The help of `verb` then lists the verbs.
  std::string message;
  // `verb` is the verb whose help the user should read.
  const CLI::App* verb = nullptr;
};

// Explains why `app` has refused a command line with `error`. An unknown name is reported with the nearest known one.
UsageError DescribeUsageError(const CLI::App& app, const CLI::ParseError& error);

// Says that no verb below `verb` is called `name`, and which name is the nearest: "`rekindle` has no verb 'sumbit'; did
// you mean `submit`?"
std::string NoSuchVerb(const CLI::App& verb, const std::string& name);

// Returns the verb with the verbs above it, such as "rekindle checkpoint ls".
std::string PathOf(const CLI::App& verb);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_HELP_USAGE_ERROR_H_
