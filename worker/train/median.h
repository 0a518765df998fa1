#ifndef REKINDLE_WORKER_TRAIN_MEDIAN_H_
#define REKINDLE_WORKER_TRAIN_MEDIAN_H_

#include <algorithm>
#include <vector>

namespace rekindle::train {

// Of an even number the upper one. REQUIRES: not empty.
inline double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_MEDIAN_H_
