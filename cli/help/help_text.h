// Makes the text that `--help` prints.
#ifndef REKINDLE_CLI_HELP_HELP_TEXT_H_
#define REKINDLE_CLI_HELP_HELP_TEXT_H_

#include <CLI/CLI.hpp>
#include <string>

#include "cli/help/verb_text.h"

namespace rekindle::cli {

// Returns the help text of the verb, in lines of at most 80 columns, unless a single word is longer.
std::string HelpText(const VerbText& verb);

// Makes `app`, and every verb that is added to it later, print the text of HelpText.
void UseHelpText(CLI::App& app);

// Breaks `text` into lines of at most `width` columns. All lines but the first are indented. Line breaks in `text` are
// kept.
std::string Wrapped(const std::string& text, size_t width, size_t indent);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_HELP_HELP_TEXT_H_
