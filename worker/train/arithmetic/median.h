#ifndef REKINDLE_WORKER_TRAIN_ARITHMETIC_MEDIAN_H_
#define REKINDLE_WORKER_TRAIN_ARITHMETIC_MEDIAN_H_

#include <algorithm>
#include <vector>

#include "common/check/check.h"

namespace rekindle::train {

// Returns the median, or the upper one of the two middle values when their number is even. REQUIRES: `values` is not
// empty.
inline double Median(std::vector<double> values) {
  common::Check(!values.empty(), "a median is of at least one value");
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ARITHMETIC_MEDIAN_H_
