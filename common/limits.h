// What programs of two kinds must agree on, so that the one never asks for more than the other can do.
#ifndef REKINDLE_COMMON_LIMITS_H_
#define REKINDLE_COMMON_LIMITS_H_

namespace rekindle::common {

// Ranks that can train together: the transport names them by the bits of one 64-bit word. So a job has no more workers.
inline constexpr int kMaxWorldSize = 64;

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_LIMITS_H_
