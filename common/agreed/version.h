// Holds the version of the programs and of the protocol that they speak.
#ifndef REKINDLE_COMMON_AGREED_VERSION_H_
#define REKINDLE_COMMON_AGREED_VERSION_H_

namespace rekindle::common {

// Every report of a worker or trainer carries the protocol version, and the coordinator refuses other versions. A
// change that an older process would misunderstand must raise the version.
inline constexpr int kProtocolVersion = 5;

// `kVersion` is the project's version in CMakeLists.txt, for example "0.1.0".
extern const char kVersion[];

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_AGREED_VERSION_H_
