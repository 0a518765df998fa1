// Computes the sum of squares of a flat gradient in double. The order of additions depends on the layout alone: blocks
// of 64 Ki elements in index order, and within a block its parameters in order. Every rank that computes a block gets
// the same bits. The sum can be gathered bucket by bucket, in any order, as the buckets are reduced.
#ifndef REKINDLE_WORKER_TRAIN_ARITHMETIC_GRADIENT_NORM_H_
#define REKINDLE_WORKER_TRAIN_ARITHMETIC_GRADIENT_NORM_H_

#include <cstdint>
#include <span>
#include <vector>

#include "worker/contract/model_interface.h"
#include "worker/train/arithmetic/gradient_buckets.h"
#include "worker/train/arithmetic/gradient_view.h"

namespace rekindle::train {

inline constexpr int64_t kNormBlockElements = 65536;

// SquaresGatherer is thread-compatible.
class SquaresGatherer {
 public:
  explicit SquaresGatherer(const ParameterLayout& layout);
  // Adds the squares of a reduced bucket while the bucket is still in the cache. They replace those that were gathered
  // from the same bucket before. `exponents` has one value a parameter when gradient.fixed is set, else it is ignored.
  void Add(const GradientView& gradient, std::span<const int32_t> exponents, const GradientBucket& bucket);
  // Returns the sum of squares over the newest values of every bucket. The sum is not finite exactly when an element is
  // not finite.
  double Total() const;

 private:
  // Describes the elements of one parameter that lie in one block of the flat gradient.
  struct Piece {
    int64_t offset;
    int64_t count;
    bool ends_block;
    double squares = 0;
  };
  std::vector<Piece> pieces_;
  // `first_piece_` holds for each parameter the index of its first Piece in `pieces_`, and at its end the number of all
  // pieces.
  std::vector<size_t> first_piece_;
};

// Returns the sum of squares of a gradient that is complete. SquaresGatherer gets a gradient bucket by bucket instead.
double GradientSumOfSquares(const ParameterLayout& layout, const GradientView& gradient,
                            std::span<const int32_t> exponents);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ARITHMETIC_GRADIENT_NORM_H_
