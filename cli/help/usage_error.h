// What is wrong with a command line.
#ifndef REKINDLE_CLI_HELP_USAGE_ERROR_H_
#define REKINDLE_CLI_HELP_USAGE_ERROR_H_

#include <CLI/CLI.hpp>
#include <string>

namespace rekindle::cli {

struct UsageError {
  std::string message;  // Empty: a verb is missing, and nothing else is wrong; its help says which there are.
  const CLI::App* verb = nullptr;  // Whose help to read.
};

// `app` has refused a command line with `error`. Names that nobody knows come with the nearest that there is.
UsageError DescribeUsageError(const CLI::App& app, const CLI::ParseError& error);

// "there is no verb 'sumbit'; did you mean `submit`?", for one of `verb`'s.
std::string NoSuchVerb(const CLI::App& verb, const std::string& name);

// "rekindle checkpoint ls"
std::string PathOf(const CLI::App& verb);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_HELP_USAGE_ERROR_H_
