// Provides a small layout and seeded random gradients for tests.
#ifndef REKINDLE_WORKER_TRAIN_TESTING_TESTING_LAYOUT_H_
#define REKINDLE_WORKER_TRAIN_TESTING_TESTING_LAYOUT_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/contract/model_interface.h"

namespace rekindle::train::testing {

// Returns a layout of parameters with the given sizes. Every other parameter has weight decay.
inline ParameterLayout MakeLayout(const std::vector<int64_t>& sizes) {
  ParameterLayout layout;
  for (size_t i = 0; i < sizes.size(); ++i) {
    layout.parameters.push_back({.name = absl::StrCat("p", i),
                                 .shape = {sizes[i]},
                                 .offset = layout.total,
                                 .size = sizes[i],
                                 .decay = i % 2 == 0});
    layout.total += sizes[i];
  }
  return layout;
}

// Returns normally distributed values whose magnitude differs by parameter. For parameter p it is spread * 10^-(p % 5).
inline std::vector<float> RandomGradient(const ParameterLayout& layout, double spread, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<float> gradient(layout.total);
  for (size_t p = 0; p < layout.parameters.size(); ++p) {
    double magnitude = spread;
    for (size_t i = 0; i < p % 5; ++i) magnitude /= 10;
    for (int64_t i = 0; i < layout.parameters[p].size; ++i) {
      gradient[layout.parameters[p].offset + i] = static_cast<float>(magnitude * normal(random));
    }
  }
  return gradient;
}

}  // namespace rekindle::train::testing

#endif  // REKINDLE_WORKER_TRAIN_TESTING_TESTING_LAYOUT_H_
