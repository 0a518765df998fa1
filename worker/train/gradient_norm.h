// The sum of squares of a flat gradient, in double, in an order that depends on the layout alone: blocks of 64 Ki
// elements in index order, each one's parameters in order. Whoever computes a block gets the same bits, so it can be
// gathered bucket by bucket, in any order, as they are reduced.
#ifndef REKINDLE_WORKER_TRAIN_GRADIENT_NORM_H_
#define REKINDLE_WORKER_TRAIN_GRADIENT_NORM_H_

#include <cstdint>
#include <span>
#include <vector>

#include "worker/train/gradient_buckets.h"
#include "worker/train/gradient_view.h"
#include "worker/train/model.h"

namespace rekindle::train {

inline constexpr int64_t kNormBlockElements = 65536;

// Thread-compatible.
class SquaresGatherer {
 public:
  explicit SquaresGatherer(const ParameterLayout& layout);
  // A reduced bucket, while it is still in the cache. Replaces what was gathered of it before.
  // `exponents`: one a parameter when gradient.fixed is set, else ignored.
  void Add(const GradientView& gradient, std::span<const int32_t> exponents, const GradientBucket& bucket);
  // Of every bucket's newest. Not finite exactly when an element is not.
  double Total() const;

 private:
  struct Piece {  // What a parameter has of a block.
    int64_t offset;
    int64_t count;
    bool ends_block;
    double squares = 0;
  };
  std::vector<Piece> pieces_;
  std::vector<size_t> first_piece_;  // By parameter, and the end.
};

// All of it at once.
double GradientSumOfSquares(const ParameterLayout& layout, const GradientView& gradient,
                            std::span<const int32_t> exponents);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_GRADIENT_NORM_H_
