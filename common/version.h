// The version of the programs, and of the protocol they speak.
#ifndef REKINDLE_COMMON_VERSION_H_
#define REKINDLE_COMMON_VERSION_H_

namespace rekindle::common {

// In every report of a worker or trainer. The coordinator refuses others: a change that an older process would
// misunderstand raises it.
inline constexpr int kProtocolVersion = 4;

extern const char kVersion[];  // As in CMakeLists.txt: "0.1.0".

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_VERSION_H_
