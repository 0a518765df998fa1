// Amounts that come over the network: seconds, rates, money.
#ifndef REKINDLE_COORDINATOR_CORE_AMOUNTS_H_
#define REKINDLE_COORDINATOR_CORE_AMOUNTS_H_

#include <cmath>

namespace rekindle::core {

// 0 or more, and no NaN or infinity.
inline bool IsAmount(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_AMOUNTS_H_
