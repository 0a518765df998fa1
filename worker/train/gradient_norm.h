// The sum of squares of a flat gradient, in double, in an order that depends on the layout alone: blocks of 64 Ki
// elements in index order, each one's parameters in order. Whoever computes a block gets the same bits, so blocks can
// be shared out between threads and ranks.
#ifndef REKINDLE_WORKER_TRAIN_GRADIENT_NORM_H_
#define REKINDLE_WORKER_TRAIN_GRADIENT_NORM_H_

#include <cstdint>
#include <span>

#include "worker/train/gradient_view.h"
#include "worker/train/model.h"

namespace rekindle::train {

inline constexpr int64_t kNormBlockElements = 65536;

// `exponents`: one a parameter when gradient.fixed is set, else ignored. Not finite exactly when an element is not.
double GradientSumOfSquares(const ParameterLayout& layout, const GradientView& gradient,
                            std::span<const int32_t> exponents);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_GRADIENT_NORM_H_
