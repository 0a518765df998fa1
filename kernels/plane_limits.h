// What the FP16 plane of weights is bounded by; see plane_split.h.
#ifndef REKINDLE_KERNELS_PLANE_LIMITS_H_
#define REKINDLE_KERNELS_PLANE_LIMITS_H_

#include <cstdint>

namespace rekindle::kernels {

constexpr std::int64_t kPlaneBlock = 1024;  // Elements that share an exponent.
constexpr int kMinPlaneExponent = -100;
constexpr int kMaxPlaneExponent = 113;
constexpr std::int16_t kPlaneException = -32768;  // The residual of an exception.

}  // namespace rekindle::kernels

#endif  // REKINDLE_KERNELS_PLANE_LIMITS_H_
