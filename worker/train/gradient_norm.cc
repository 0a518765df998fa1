#include "worker/train/gradient_norm.h"

#include <algorithm>
#include <cmath>

#include "kernels/sum_of_squares.h"

namespace rekindle::train {

double GradientSumOfSquares(const ParameterLayout& layout, const GradientView& gradient,
                            std::span<const int32_t> exponents) {
  double total = 0;
  double block = 0;
  for (size_t p = 0; p < layout.parameters.size(); ++p) {
    const ParameterInfo& info = layout.parameters[p];
    if (info.is_buffer()) break;  // They come last, and are no gradients.
    const int64_t end = info.offset + info.size;
    for (int64_t at = info.offset; at < end;) {
      const int64_t block_end = (at / kNormBlockElements + 1) * kNormBlockElements;
      const int64_t count = std::min(end, block_end) - at;
      block += gradient.fixed != nullptr
                   ? std::ldexp(kernels::SumOfSquares(gradient.fixed + at, count), -2 * exponents[p])
                   : kernels::SumOfSquares(gradient.values + at, count);
      at += count;
      if (at == block_end) {
        total += block;
        block = 0;
      }
    }
  }
  return total + block;
}

}  // namespace rekindle::train
