// Who says what nodes cost: one adapter a cloud that has an interface for it.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_PRICE_SOURCE_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_PRICE_SOURCE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace rekindle::fleet {

// Of the same bounds as in a fleet file: a price that costs nothing, or a fortune, is not believed. Nothing: not a
// price.
std::optional<double> ParsePrice(const std::string& text);
std::optional<double> CheckedPrice(double price);

// Thread-compatible.
class PriceSource {
 public:
  virtual ~PriceSource() = default;
  // What a node of the pool costs an hour, now. Blocks, for some requests; reads bounded answers. NOT_FOUND: nobody
  // sells that there. Other errors as in provider.h.
  virtual absl::StatusOr<double> Ask(const std::string& pool) = 0;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_PRICE_SOURCE_H_
