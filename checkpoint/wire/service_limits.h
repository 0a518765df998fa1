// Defines the limits on which the checkpoint service and its client must agree.
#ifndef REKINDLE_CHECKPOINT_WIRE_SERVICE_LIMITS_H_
#define REKINDLE_CHECKPOINT_WIRE_SERVICE_LIMITS_H_

namespace rekindle::checkpoint {

// A message of `kMaxServiceMessage` bytes has room for a manifest of kMaxShards and its scalars.
inline constexpr int kMaxServiceMessage = 16 << 20;

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_WIRE_SERVICE_LIMITS_H_
