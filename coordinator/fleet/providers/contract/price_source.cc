#include "coordinator/fleet/providers/contract/price_source.h"

#include "absl/strings/numbers.h"

namespace rekindle::fleet {
namespace {

constexpr double kMaxPrice = 1e6;

}  // namespace

std::optional<double> CheckedPrice(double price) {
  if (price > 0 && price <= kMaxPrice) return price;
  return std::nullopt;
}

std::optional<double> ParsePrice(const std::string& text) {
  double price = 0;
  if (!absl::SimpleAtod(text, &price)) return std::nullopt;
  return CheckedPrice(price);
}

}  // namespace rekindle::fleet
