// Defines the arguments of the kernels that sum gradients, which are the same on the processor and on a GPU
// (kernels/table/kernel_table.h).
#ifndef REKINDLE_KERNELS_SUMS_SUM_ARGUMENTS_H_
#define REKINDLE_KERNELS_SUMS_SUM_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>

// Adds a micro-batch's gradient, unscaled, and finds its largest magnitude (accumulate.h, fixed_point.h).
struct RekindleAccumulate {
  const float* gradient;
  std::size_t n;
  // If `first` is not 0, the sum is written, not added to.
  std::uint32_t first;
  // The kernel computes sum += gradient * factor.
  float* sum;
  float factor;
  // If `fixed` is not null, the kernel computes fixed += rint(gradient * 2^exponent) instead.
  std::int64_t* fixed;
  std::int32_t exponent;
  // `largest` is one word. It is raised to the bits of the largest |gradient|, or to those of infinity if a value is
  // NaN or infinite. The caller sets it to 0 before.
  std::uint32_t* largest;
};

// Names the elements [offset, offset + count) of a gradient.
struct RekindlePiece {
  std::int64_t offset;
  std::int64_t count;
};

// Sums the squares of each piece of a gradient in the order of sum_of_squares.h.
struct RekindleSquares {
  // If `fixed` is not null, it has the gradient from element `origin` on. Otherwise `values` has it.
  const float* values;
  const std::int64_t* fixed;
  std::int64_t origin;
  const RekindlePiece* pieces;
  std::size_t n_pieces;
  // `squares` has one element a piece.
  double* squares;
};

// Moves each element of a running mean towards the mean of a sum: mean += rate * (sum / count - mean), in double.
struct RekindleRunningMean {
  // If `fixed` is not null, the sum is fixed * unit. Otherwise it is `values`.
  const float* values;
  const std::int64_t* fixed;
  double unit;
  std::size_t n;
  double count;
  double rate;
  float* mean;
};

// Adds to `hash` a number that depends on each word and on its place (word_hash.h).
struct RekindleHash {
  const std::uint32_t* words;
  std::size_t n;
  // `hash` is one word. The caller sets it to 0 before the first words.
  std::uint64_t* hash;
  // `first` is the place of words[0] among all the words that are hashed.
  std::uint64_t first;
};

#endif  // REKINDLE_KERNELS_SUMS_SUM_ARGUMENTS_H_
