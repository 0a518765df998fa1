// Draws a loss curve in block characters.
#ifndef REKINDLE_CLI_WATCH_LOSS_CURVE_H_
#define REKINDLE_CLI_WATCH_LOSS_CURVE_H_

#include <google/protobuf/repeated_ptr_field.h>

#include <string>
#include <vector>

#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// Returns `rows` lines of at most `columns` columns. They have the loss curve, with its highest and lowest loss at the
// left, and its steps below it. All lines are empty if there are no two different points. REQUIRES: rows >= 2 and
// columns >= 28.
std::vector<std::string> LossCurve(const google::protobuf::RepeatedPtrField<v1::LossPoint>& points, int columns,
                                   int rows);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_WATCH_LOSS_CURVE_H_
