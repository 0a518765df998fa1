#include "coordinator/fleet/file/price_from.h"

#include "absl/strings/str_cat.h"
#include "common/spec/field_check.h"
#include "coordinator/fleet/providers/registry/provider_kinds.h"

namespace rekindle::fleet {
namespace {

// Checks the pool's region and instance type, because the cloud is asked for the price of that type in that region.
absl::Status CheckOffer(const std::string& path, const v1::Fleet::Pool& pool) {
  for (const auto& [field, value] : {std::pair(".region", pool.region()), {".instance_type", pool.instance_type()}}) {
    if (value.empty()) return common::WrongField(path + field, "is missing: its price is asked for by it");
    if (absl::Status s = CheckName(path + field, value); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPriceFrom(const std::string& path, const std::string& currency, const ProviderKind& kind,
                            const v1::Fleet::Pool& pool) {
  const std::string field = path + ".price_from";
  const bool asked = IsPriceAsked(pool);
  if (!asked && !pool.machines().price_endpoint().empty()) {
    return common::WrongField(path + ".machines.price_endpoint",
                              "nobody is asked there: add `price_from: provider`, or remove it");
  }
  if (pool.price_from().empty() || pool.price_from() == "file") return absl::OkStatus();
  if (!asked)
    return common::WrongField(field, absl::StrCat("'", pool.price_from(), "' is not known; known: file, provider"));
  if (!pool.has_machines()) {
    return common::WrongField(field, "asks with the account of the pool's machines: add `machines`, or remove it");
  }
  const absl::StatusOr<const PriceKind*> prices = FindPriceKind(field, kind);
  if (!prices.ok()) return prices.status();
  if (pool.price() <= 0)
    return common::WrongField(path + ".price", "is missing: it holds until the provider has answered");
  if (absl::Status s = CheckOffer(path, pool); !s.ok()) return s;
  return (*prices)->check == nullptr ? absl::OkStatus() : (*prices)->check(path, currency, pool);
}

}  // namespace rekindle::fleet
