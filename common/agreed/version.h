// Holds the version of the programs and of the protocol that they speak.
#ifndef REKINDLE_COMMON_AGREED_VERSION_H_
#define REKINDLE_COMMON_AGREED_VERSION_H_

namespace rekindle::common {

// Every report of a worker or trainer has the protocol version, and the coordinator refuses other versions. A change
// that an older process would misunderstand must raise it.
inline constexpr int kProtocolVersion = 4;

// `kVersion` is that of CMakeLists.txt, for example "0.1.0".
extern const char kVersion[];

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_AGREED_VERSION_H_
