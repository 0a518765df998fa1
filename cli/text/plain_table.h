// Lays rows of text out as a table.
#ifndef REKINDLE_CLI_TEXT_PLAIN_TABLE_H_
#define REKINDLE_CLI_TEXT_PLAIN_TABLE_H_

#include <string>
#include <vector>

namespace rekindle::cli {

// Pads columns to their widest cell, measured in columns of a terminal. The first row is the head.
std::string Table(const std::vector<std::vector<std::string>>& rows);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_TEXT_PLAIN_TABLE_H_
