#include "worker/train/arithmetic/gradient_norm.h"

#include <algorithm>
#include <cmath>

#include "kernels/sums/sum_of_squares.h"

namespace rekindle::train {

SquaresGatherer::SquaresGatherer(const ParameterLayout& layout) {
  for (const ParameterInfo& info : layout.parameters) {
    first_piece_.push_back(pieces_.size());
    // A buffer of the model, such as a running mean of batch norm, has no gradient, so it adds nothing to the norm.
    if (info.is_buffer()) continue;
    const int64_t end = info.offset + info.size;
    for (int64_t at = info.offset; at < end;) {
      const int64_t block_end = (at / kNormBlockElements + 1) * kNormBlockElements;
      const int64_t count = std::min(end, block_end) - at;
      at += count;
      pieces_.push_back({.offset = at - count, .count = count, .ends_block = at == block_end});
    }
  }
  first_piece_.push_back(pieces_.size());
}

void SquaresGatherer::Add(const GradientView& gradient, std::span<const int32_t> exponents,
                          const GradientBucket& bucket) {
  for (int p = bucket.first_parameter; p <= bucket.last_parameter; ++p) {
    const auto parameter = static_cast<size_t>(p);
    for (size_t i = first_piece_[parameter]; i < first_piece_[parameter + 1]; ++i) {
      Piece& piece = pieces_[i];
      piece.squares =
          gradient.fixed != nullptr
              ? std::ldexp(kernels::SumOfSquares(gradient.fixed + piece.offset, piece.count), -2 * exponents[parameter])
              : kernels::SumOfSquares(gradient.values + piece.offset, piece.count);
    }
  }
}

double SquaresGatherer::Total() const {
  double total = 0;
  double block = 0;
  for (const Piece& piece : pieces_) {
    block += piece.squares;
    if (!piece.ends_block) continue;
    total += block;
    block = 0;
  }
  return total + block;
}

double GradientSumOfSquares(const ParameterLayout& layout, const GradientView& gradient,
                            std::span<const int32_t> exponents) {
  SquaresGatherer gatherer(layout);
  gatherer.Add(gradient, exponents, {.last_parameter = static_cast<int>(layout.parameters.size()) - 1});
  return gatherer.Total();
}

}  // namespace rekindle::train
