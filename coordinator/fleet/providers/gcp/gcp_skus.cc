#include "coordinator/fleet/providers/gcp/gcp_skus.h"

#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "coordinator/fleet/providers/contract/price_source.h"
#include "coordinator/fleet/providers/http/cloud_api.h"

namespace rekindle::fleet {
namespace {

using nlohmann::json;

constexpr double kGbInGib = 1.073741824;

// A Line says which part of a machine has its price in a line of Google's price list.
struct Line {
  std::string name;
  GcpMeasure measure;
  bool spot = false;
};

// Returns what an entry of the price list prices, or nothing where it is no part of a known machine. Only whole
// descriptions match, so "N2 Custom Instance Core" or "... attached to DWS Defined Duration VMs" do not.
std::optional<Line> LineOf(const json& sku) {
  const std::string description = common::StringOr(sku, "description");
  const size_t end = description.find(" running in ");
  if (end == std::string::npos) return std::nullopt;
  absl::string_view name(description.data(), end);
  const bool spot = absl::ConsumePrefix(&name, "Spot Preemptible ") ||
                    absl::ConsumeSuffix(&name, " attached to Spot Preemptible VMs");
  const auto found = GcpPartNames().find(std::string(name));
  const json& category = Member(sku, "category");
  if (found == GcpPartNames().end() || common::StringOr(category, "resourceFamily") != "Compute" ||
      common::StringOr(category, "usageType") != (spot ? "Preemptible" : "OnDemand")) {
    return std::nullopt;
  }
  return Line{found->first, found->second, spot};
}

// Returns the amount of money in a document such as {"currencyCode": "USD", "units": "1", "nanos": 760300000}. Members
// that are zero may be missing.
std::optional<double> Money(const json& money, const std::string& currency) {
  const json& units = Member(money, "units");
  const json& nanos = Member(money, "nanos");
  int64_t whole = 0;
  if (!units.is_null() && (!units.is_string() || !absl::SimpleAtoi(units.get<std::string>(), &whole))) {
    return std::nullopt;
  }
  if (!nanos.is_null() && !nanos.is_number_integer()) return std::nullopt;
  const int64_t billionths = nanos.is_null() ? 0 : nanos.get<int64_t>();
  if (whole < 0 || billionths < 0 || billionths > 999'999'999) return std::nullopt;
  if (common::StringOr(money, "currencyCode") != currency) return std::nullopt;
  return CheckedPrice(static_cast<double>(whole) + static_cast<double>(billionths) * 1e-9);
}

// Returns the newest price of an entry of the price list, which is the last one that it has. A price that depends on
// how much is used does not count.
GcpRate RateOf(const json& sku, GcpMeasure measure, const std::string& currency) {
  const GcpRate none{.wrong = absl::StrCat("has not one price of an hour in ", currency)};
  const json& history = Member(sku, "pricingInfo");
  if (!history.is_array() || history.empty()) return none;
  const json& expression = Member(history.back(), "pricingExpression");
  const json& tiers = Member(expression, "tieredRates");
  if (!tiers.is_array() || tiers.size() != 1) return none;
  const json& from = Member(tiers[0], "startUsageAmount");
  const std::optional<double> price = Money(Member(tiers[0], "unitPrice"), currency);
  const std::string unit = common::StringOr(expression, "usageUnit");
  if (!price || !(from.is_null() || (from.is_number() && from.get<double>() == 0))) return none;
  if (measure == GcpMeasure::kHour && unit == "h") return {.price = *price};
  if (measure == GcpMeasure::kGibHour && unit == "GiBy.h") return {.price = *price};
  if (measure == GcpMeasure::kGibHour && unit == "GBy.h") return {.price = *price * kGbInGib};
  return none;
}

void Note(const GcpRate& rate, GcpRate& known) {
  if (!known.wrong.empty()) return;
  if (!rate.wrong.empty() || known.price == 0) {
    known = rate;
  } else if (known.price != rate.price) {
    known.wrong = "has several prices";
  }
}

// Returns the price of a part of a machine, which must be the same under all names of the part.
absl::StatusOr<double> PriceOfPart(const GcpMachine& machine, const std::string& region, bool spot, const GcpPart& part,
                                   const GcpRates& rates) {
  GcpRate found;
  for (const std::string& name : part.names) {
    const auto rate = rates.find({region, spot, name});
    if (rate != rates.end()) Note(rate->second, found);
  }
  if (found.wrong.empty() && found.price > 0) return found.price;
  const std::string what = absl::StrCat(part.names[0], " of ", machine.type, " in ", region);
  const char* kind = spot ? "spot" : "on-demand";
  if (!found.wrong.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("Google Cloud's ", kind, " ", what, " ", found.wrong, ": ", kGcpPriceFix));
  }
  return absl::NotFoundError(absl::StrCat("Google Cloud tells no ", kind, " price of ", what,
                                          ": correct the pool's instance_type and region, or ", kGcpPriceFix));
}

}  // namespace

absl::Status TakeGcpSkus(const json& page, const std::string& currency, const std::set<std::string>& regions,
                         GcpRates& rates) {
  const json& skus = Member(page, "skus");
  if (!page.is_object() || !(skus.is_null() || skus.is_array())) {
    return absl::InternalError("Google Cloud's price list: a page without skus");
  }
  for (const json& sku : skus) {
    const std::optional<Line> line = LineOf(sku);
    const json& places = Member(sku, "serviceRegions");
    if (!line || !places.is_array()) continue;
    for (const json& place : places) {
      if (!place.is_string() || regions.count(place.get<std::string>()) == 0) continue;
      Note(RateOf(sku, line->measure, currency), rates[{place.get<std::string>(), line->spot, line->name}]);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<double> GcpPrice(const GcpMachine& machine, const std::string& region, bool spot,
                                const GcpRates& rates) {
  double sum = 0;
  for (const GcpPart& part : machine.parts) {
    const absl::StatusOr<double> price = PriceOfPart(machine, region, spot, part, rates);
    if (!price.ok()) return price.status();
    sum += *price * part.amount;
  }
  if (CheckedPrice(sum)) return sum;
  return absl::InternalError(absl::StrCat("Google Cloud's price of ", machine.type, " cannot be believed"));
}

}  // namespace rekindle::fleet
