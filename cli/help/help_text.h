// What `--help` prints.
#ifndef REKINDLE_CLI_HELP_HELP_TEXT_H_
#define REKINDLE_CLI_HELP_HELP_TEXT_H_

#include <CLI/CLI.hpp>
#include <string>

#include "cli/help/verb_text.h"

namespace rekindle::cli {

// Lines of at most 80 columns, as long as no single word is longer.
std::string HelpText(const VerbText& verb);

// Makes `app`, and every verb that is added to it from now on, print that.
void UseHelpText(CLI::App& app);

// `text` in lines of at most `width` columns; those after the first are indented. Lines of its own are kept.
std::string Wrapped(const std::string& text, size_t width, size_t indent);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_HELP_HELP_TEXT_H_
