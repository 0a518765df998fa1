// A loss curve in block characters.
#ifndef REKINDLE_CLI_WATCH_LOSS_CURVE_H_
#define REKINDLE_CLI_WATCH_LOSS_CURVE_H_

#include <google/protobuf/repeated_ptr_field.h>

#include <string>
#include <vector>

#include "rekindle/v1/job.pb.h"

namespace rekindle::cli {

// `rows` lines of at most `columns` columns: the curve, with its highest and lowest loss at the left, and below it the
// steps that it is of. All are empty where two points cannot be told apart. REQUIRES: rows >= 2, columns >= 28.
std::vector<std::string> LossCurve(const google::protobuf::RepeatedPtrField<v1::LossPoint>& points, int columns,
                                   int rows);

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_WATCH_LOSS_CURVE_H_
