#include "kernels/layers/cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/vector/vector_math.h"

namespace rekindle::kernels {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

REKINDLE_VECTOR_INLINE float LargestOf(const float* row, int64_t n) {
  Floats largest = Floats{} + kLowest;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Floats x = Load(row + i);
    largest = x > largest ? x : largest;
  }
  const Floats rest = LoadSome(row + i, n - i, kLowest);
  largest = rest > largest ? rest : largest;
  float result = largest[0];
  for (int lane = 1; lane < kLanes; ++lane) result = std::max(result, largest[lane]);
  return result;
}

// Computes e^(row - largest), which is at most 1, and returns the sum. Exp limits its argument, so NaN and infinity in
// the row would not show in the results. The caller must look for them.
REKINDLE_VECTOR_INLINE float ExpOf(const float* row, int64_t n, float largest, float* out) {
  Floats sum = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Floats e = Exp(Load(row + i) - largest);
    if (out != nullptr) Store(e, out + i);
    sum += e;
  }
  Floats e = Exp(LoadSome(row + i, n - i, largest) - largest);
  for (int64_t lane = n - i; lane < kLanes; ++lane) e[lane] = 0;
  if (out != nullptr) StoreSome(e, n - i, out + i);
  return SumOf(sum + e);
}

// Returns whether the row has a NaN. Exp hides NaN, and so does a maximum. A row that has NaN or +infinity has no loss.
REKINDLE_VECTOR_INLINE bool AnyNan(const float* row, int64_t n) {
  int found = 0;
  for (int64_t i = 0; i < n; ++i) found |= row[i] != row[i];
  return found != 0;
}

}  // namespace

REKINDLE_VECTOR_CLONES
double CrossEntropy(const float* logits, int64_t rows, int64_t classes, const int64_t* targets, float* gradient) {
  double loss = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = logits + r * classes;
    float* out = gradient == nullptr ? nullptr : gradient + r * classes;
    const float largest = LargestOf(row, classes);
    if (!std::isfinite(largest) || AnyNan(row, classes)) {
      loss = std::numeric_limits<double>::quiet_NaN();
      if (out != nullptr) std::fill(out, out + classes, std::numeric_limits<float>::quiet_NaN());
      continue;
    }
    const float of_target = row[targets[r]];
    const float sum = ExpOf(row, classes, largest, out);
    loss += std::log(double{sum}) + (double{largest} - of_target);
    if (out == nullptr) continue;
    const float inverse = 1.0f / sum;
    for (int64_t i = 0; i < classes; ++i) out[i] *= inverse;
    out[targets[r]] -= 1.0f;
  }
  return loss;
}

}  // namespace rekindle::kernels
