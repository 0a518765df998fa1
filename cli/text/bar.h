// Draws bars that show how much of something, such as a job, is done.
#ifndef REKINDLE_CLI_TEXT_BAR_H_
#define REKINDLE_CLI_TEXT_BAR_H_

#include <string>

namespace rekindle::cli {

// Returns a bar of `width` cells that is filled to done / total, with eighth blocks.
std::string Bar(double done, double total, int width);
// Returns a bar for terminals without UTF-8, "[####------]", with `width` cells between the brackets.
std::string AsciiBar(double done, double total, int width);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_TEXT_BAR_H_
