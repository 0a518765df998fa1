// Defines the exit codes by which a trainer tells its agent why it has ended itself.
#ifndef REKINDLE_COMMON_AGREED_EXIT_CODES_H_
#define REKINDLE_COMMON_AGREED_EXIT_CODES_H_

namespace rekindle::common {

// The process finds no memory on the host. In that case the kernel did not kill it.
inline constexpr int kExitOutOfMemory = 5;
// The process's context on its GPU is lost, with all memory in it. Another process may use the GPU.
inline constexpr int kExitContextLost = 75;
// The GPU cannot be used: it does not answer, or it fails its probe.
inline constexpr int kExitDeviceGone = 76;
// The GPU has no room for what the job needs from its start on.
inline constexpr int kExitOutOfDeviceMemory = 77;

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_AGREED_EXIT_CODES_H_
