// Holds the values of the flag --allow-code, with which coordinators and agents say whether jobs may bring code of
// their own.
#ifndef REKINDLE_COMMON_AGREED_ALLOW_CODE_H_
#define REKINDLE_COMMON_AGREED_ALLOW_CODE_H_

#include <string_view>

namespace rekindle::common {

inline constexpr char kCodeOff[] = "off";
// The code runs isolated from the node. On a coordinator, and on an agent whose coordinator is on loopback, it also
// runs where nothing isolates it.
inline constexpr char kCodeOn[] = "on";
// The code also runs where nothing isolates it, with the rights of the agent's own user.
inline constexpr char kCodeUnisolated[] = "unisolated";
// An agent reports this where it was started with "on" and cannot isolate code, which it therefore does not run.
inline constexpr char kCodeNeedsIsolation[] = "needs-isolation";

// Returns whether jobs may bring code of their own at all. An empty value, as an earlier release says it, means that
// they may not.
constexpr bool AllowsCode(std::string_view allow_code) {
  return allow_code == kCodeOn || allow_code == kCodeUnisolated;
}

// Returns the value of a flag that was not given: "on" where the coordinator's address is on loopback, because then
// only its own user can call it.
constexpr const char* DefaultAllowCode(bool is_loopback) { return is_loopback ? kCodeOn : kCodeOff; }

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_AGREED_ALLOW_CODE_H_
