// Makes foreign text safe to print on a terminal.
#ifndef REKINDLE_CLI_TEXT_SAFE_TEXT_H_
#define REKINDLE_CLI_TEXT_SAFE_TEXT_H_

#include <string>

namespace rekindle::cli {

// Makes foreign text safe to print. Such text must not control the terminal or show another text than it contains. So
// control characters (C0 except the tab, DEL, C1), characters that change the direction of writing or begin a line, and
// bytes that are not UTF-8 become '?'.
std::string Printable(const std::string& text);
// Makes foreign text safe to print as Printable does, but keeps line feeds.
std::string PrintableLines(const std::string& text);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_TEXT_SAFE_TEXT_H_
