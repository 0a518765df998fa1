#include "kernels/optimizers/matmul.h"

#include <algorithm>

#include "kernels/vector/clones.h"

namespace rekindle::kernels {
namespace {

// `kColumns` columns of the product c are computed at a time, so that their sums stay in registers and the first-level
// cache.
constexpr int64_t kColumns = 64;

REKINDLE_INLINE void RowOfColumns(const float* __restrict a, const float* __restrict b, int64_t inner, int64_t columns,
                                  int64_t count, float* __restrict c) {
  float sums[kColumns] = {};
  if (count == kColumns) {
    for (int64_t k = 0; k < inner; ++k) {
      for (int64_t j = 0; j < kColumns; ++j) sums[j] += a[k] * b[k * columns + j];
    }
  } else {
    for (int64_t k = 0; k < inner; ++k) {
      for (int64_t j = 0; j < count; ++j) sums[j] += a[k] * b[k * columns + j];
    }
  }
  for (int64_t j = 0; j < count; ++j) c[j] = sums[j];
}

}  // namespace

REKINDLE_CLONES
void MatMul(const float* a, const float* b, int64_t rows, int64_t inner, int64_t columns, float* c) {
  for (int64_t j = 0; j < columns; j += kColumns) {
    const int64_t count = std::min(kColumns, columns - j);
    for (int64_t i = 0; i < rows; ++i) RowOfColumns(a + i * inner, b + j, inner, columns, count, c + i * columns + j);
  }
}

}  // namespace rekindle::kernels
