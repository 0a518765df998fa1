// Defines the limits of the FP16 plane of weights (see plane_split.h).
#ifndef REKINDLE_KERNELS_PLANES_PLANE_LIMITS_H_
#define REKINDLE_KERNELS_PLANES_PLANE_LIMITS_H_

#include <cstdint>

namespace rekindle::kernels {

// The elements of each block of `kPlaneBlock` share one exponent.
constexpr std::int64_t kPlaneBlock = 1024;
constexpr int kMinPlaneExponent = -100;
constexpr int kMaxPlaneExponent = 113;
// `kPlaneException` takes the place of a residual that does not fit 16 bits.
constexpr std::int16_t kPlaneException = -32768;

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_PLANES_PLANE_LIMITS_H_
