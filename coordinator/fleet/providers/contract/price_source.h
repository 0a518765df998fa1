// This file declares who says what nodes cost. There is one adapter for each cloud that has an interface for prices.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_PRICE_SOURCE_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_PRICE_SOURCE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace rekindle::fleet {

// Both functions return nothing where there is no credible price. The bounds are those of a fleet file, so a price that
// is not above 0, or that is huge, is not believed.
std::optional<double> ParsePrice(const std::string& text);
std::optional<double> CheckedPrice(double price);

// A PriceSource is thread-compatible.
class PriceSource {
 public:
  virtual ~PriceSource() = default;
  // Returns what a node of the pool costs an hour now. The call blocks for some requests, and reads bounded answers.
  // NOT_FOUND says that nobody sells such a node there. Other errors are as in provider.h.
  virtual absl::StatusOr<double> Ask(const std::string& pool) = 0;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_CONTRACT_PRICE_SOURCE_H_
