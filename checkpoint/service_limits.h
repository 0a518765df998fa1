// What service and client must agree on.
#ifndef REKINDLE_CHECKPOINT_SERVICE_LIMITS_H_
#define REKINDLE_CHECKPOINT_SERVICE_LIMITS_H_

namespace rekindle::checkpoint {

inline constexpr int kMaxServiceMessage = 16 << 20;  // A manifest of kMaxShards, and its scalars.

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_SERVICE_LIMITS_H_
