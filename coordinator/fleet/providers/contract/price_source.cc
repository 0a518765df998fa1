#include "coordinator/fleet/providers/contract/price_source.h"

#include "absl/strings/numbers.h"

namespace rekindle::fleet {
std::optional<double> CheckedPrice(double price) {
  if (price > 0 && price <= kHighestPrice) return price;
  return std::nullopt;
}

std::optional<double> ParsePrice(const std::string& text) {
  double price = 0;
  if (!absl::SimpleAtod(text, &price)) return std::nullopt;
  return CheckedPrice(price);
}

}  // namespace rekindle::fleet
