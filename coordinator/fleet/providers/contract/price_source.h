// This file declares the interface through which a cloud is asked what its nodes cost. There is one adapter for each
// cloud that offers its prices over an API.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_PRICE_SOURCE_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_PRICE_SOURCE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace rekindle::fleet {

// No price of a node is above `kHighestPrice` an hour.
inline constexpr double kHighestPrice = 1e6;

// ParsePrice and CheckedPrice return nothing where the price is not credible. The bounds are those of a fleet file, so
// a price that is not above 0, or that is huge, is not believed.
std::optional<double> ParsePrice(const std::string& text);
std::optional<double> CheckedPrice(double price);

// A PriceSource is thread-compatible.
class PriceSource {
 public:
  virtual ~PriceSource() = default;
  // Returns what a node of the pool costs an hour now. The call blocks while it makes some requests, and reads answers
  // of limited size only. NOT_FOUND says that nobody sells such a node in the pool's zone or region. Other errors are
  // as in provider.h.
  virtual absl::StatusOr<double> Ask(const std::string& pool) = 0;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_PRICE_SOURCE_H_
