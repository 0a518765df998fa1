// Makes the table that `rekindle nodes` prints.
#ifndef REKINDLE_CLI_LIST_NODE_TABLE_H_
#define REKINDLE_CLI_LIST_NODE_TABLE_H_

#include <string>
#include <vector>

#include "cli/list/fitted_table.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::cli {

std::vector<std::string> NodeCells(const v1::Node& node);

FittedTable NodeTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_LIST_NODE_TABLE_H_
