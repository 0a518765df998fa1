// Defines the arguments of the kernels that cut arrays into planes and merge them (plane_split.h). They are the same on
// the processor and on a GPU (kernels/table/kernel_table.h).
#ifndef REKINDLE_KERNELS_PLANES_PLANE_ARGUMENTS_H_
#define REKINDLE_KERNELS_PLANES_PLANE_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>

// Splits x into FP16 halves, exponents and residuals.
struct RekindleSplitHalf {
  const float* x;
  std::size_t n;
  std::uint16_t* half;
  std::int8_t* exponent;
  // If `residual` is null, neither residuals nor exceptions are written.
  std::int16_t* residual;
  // `index` and `bits` list the exceptions, which have no order on a GPU. Those beyond the capacity are counted but not
  // stored.
  std::uint32_t* index;
  std::uint32_t* bits;
  std::uint32_t capacity;
  // The kernel adds the number of exceptions to `exceptions`, and that of values that are NaN or infinite to
  // `nonfinite`. Exceptions are stored behind those that were counted before.
  std::uint32_t* exceptions;
  std::uint64_t* nonfinite;
};

struct RekindleMergeHalf {
  const std::uint16_t* half;
  const std::int8_t* exponent;
  // If `residual` is null, the result is rounded.
  const std::int16_t* residual;
  std::size_t n;
  float* x;
};

// Splits x into bfloat16 and, if `low` is not null, the lower halves.
struct RekindleSplitBf16 {
  const float* x;
  std::size_t n;
  std::uint16_t* high;
  std::uint16_t* low;
  // The kernel adds to `nonfinite` the number of values that are NaN or infinite.
  std::uint64_t* nonfinite;
};

struct RekindleMergeBf16 {
  const std::uint16_t* high;
  // If `low` is null, the result is rounded.
  const std::uint16_t* low;
  std::size_t n;
  float* x;
};

#endif  // REKINDLE_KERNELS_PLANES_PLANE_ARGUMENTS_H_
