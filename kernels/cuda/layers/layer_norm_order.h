// Defines the order in which the GPU sums the gradients of layer norm's weight and bias over rows. Many threads take a
// column, so the order is not that of the CPU, which has one chain of additions. But it depends on the shape alone.
//
// Rows are cut into chunks of kChunkRows. In a chunk there are kColumnSums interleaved sums (its row r goes to sum r %
// 8), which are joined in pairs 4, 2 and 1 apart. Then the chunks are added in order.
#ifndef REKINDLE_KERNELS_CUDA_LAYERS_LAYER_NORM_ORDER_H_
#define REKINDLE_KERNELS_CUDA_LAYERS_LAYER_NORM_ORDER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace rekindle::cuda {

inline constexpr std::int64_t kChunkRows = 128;
inline constexpr int kColumnSums = 8;

inline std::int64_t LayerNormChunks(std::int64_t rows) { return (rows + kChunkRows - 1) / kChunkRows; }
// Returns the number of floats of scratch memory that the backward pass of layer norm needs.
inline std::size_t LayerNormScratch(std::int64_t rows, std::int64_t width) {
  return static_cast<std::size_t>(2 * LayerNormChunks(rows) * width);
}

// Returns the sum over rows of value(row) in the GPU's order. It runs on the host, for tests.
template <typename Value>
float SumOverRows(std::int64_t rows, Value value) {
  float total = 0;
  for (std::int64_t begin = 0; begin < rows; begin += kChunkRows) {
    float sums[kColumnSums] = {};
    for (std::int64_t r = 0; r < std::min(kChunkRows, rows - begin); ++r) sums[r % kColumnSums] += value(begin + r);
    for (int apart = kColumnSums / 2; apart > 0; apart /= 2) {
      for (int i = 0; i < apart; ++i) sums[i] += sums[i + apart];
    }
    total += sums[0];
  }
  return total;
}

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_LAYERS_LAYER_NORM_ORDER_H_
