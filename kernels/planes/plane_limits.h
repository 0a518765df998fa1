// Defines the limits of the FP16 plane of weights (see plane_split.h).
#ifndef REKINDLE_KERNELS_PLANES_PLANE_LIMITS_H_
#define REKINDLE_KERNELS_PLANES_PLANE_LIMITS_H_

#include <cstdint>

namespace rekindle::kernels {

// This many elements share an exponent.
constexpr std::int64_t kPlaneBlock = 1024;
constexpr int kMinPlaneExponent = -100;
constexpr int kMaxPlaneExponent = 113;
// An exception has this residual.
constexpr std::int16_t kPlaneException = -32768;

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_PLANES_PLANE_LIMITS_H_
