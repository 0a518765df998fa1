// What the coordinator and the agents agree on about machines that hear of no coordinator.
#ifndef REKINDLE_COMMON_ALONE_H_
#define REKINDLE_COMMON_ALONE_H_

namespace rekindle::common {

// Once its time is over, what runs on a machine has so long to save its state. Then the machine ends.
inline constexpr double kMachineEndSeconds = 60;

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_ALONE_H_
