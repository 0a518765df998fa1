// Checks amounts that come over the network, such as seconds, rates and money.
#ifndef REKINDLE_COMMON_AGREED_AMOUNTS_H_
#define REKINDLE_COMMON_AGREED_AMOUNTS_H_

#include <cmath>

namespace rekindle::common {

// Returns whether the value is 0 or more, and neither NaN nor infinite.
inline bool IsAmount(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_AGREED_AMOUNTS_H_
