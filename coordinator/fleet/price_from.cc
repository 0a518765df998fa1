#include "coordinator/fleet/price_from.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "coordinator/fleet/field_check.h"
#include "coordinator/fleet/machines.h"

namespace rekindle::fleet {
namespace {

// What the cloud is asked for.
absl::Status CheckOffer(const std::string& path, const v1::Fleet::Pool& pool) {
  for (const auto& [field, value] : {std::pair(".region", pool.region()), {".instance_type", pool.instance_type()}}) {
    if (value.empty()) return Wrong(path + field, "is missing: its price is asked for by it");
    if (absl::Status s = CheckName(path + field, value); !s.ok()) return s;
  }
  return absl::OkStatus();
}

// Amazon names its prices in the currency of the partition.
absl::Status CheckAws(const std::string& path, const std::string& currency, const v1::Fleet::Pool& pool) {
  if (pool.capacity() != "spot") {
    return Wrong(path + ".price_from", "AWS is asked for spot prices only: remove it, and keep price");
  }
  const std::string told = absl::StartsWith(pool.region(), "cn-") ? "CNY" : "USD";
  if (currency == told) return absl::OkStatus();
  return Wrong(path + ".price_from", absl::StrCat("AWS tells prices of ", pool.region(), " in ", told,
                                                  ", and currency is ", currency, ": change that, or remove this"));
}

// Machines are in the zone and prices of the region, and both are asked for.
absl::Status CheckGcp(const std::string& path, const v1::Fleet::Pool& pool) {
  if (absl::StartsWith(pool.zone(), pool.region() + "-")) return absl::OkStatus();
  return Wrong(path + ".region", absl::StrCat("zone ", pool.zone(), " is not in ", pool.region(), ": correct either"));
}

}  // namespace

absl::Status CheckPriceFrom(const std::string& path, const std::string& currency, const v1::Fleet::Pool& pool) {
  const std::string field = path + ".price_from";
  const bool asked = pool.price_from() == "provider";
  if (!asked && !pool.machines().price_endpoint().empty()) {
    return Wrong(path + ".machines.price_endpoint", "nobody is asked there: add `price_from: provider`, or remove it");
  }
  if (pool.price_from().empty() || pool.price_from() == "file") return absl::OkStatus();
  if (!asked) return Wrong(field, absl::StrCat("'", pool.price_from(), "' is not known; known: file, provider"));
  if (!pool.has_machines()) {
    return Wrong(field, "asks with the account of the pool's machines: add `machines`, or remove it");
  }
  if (pool.provider() != "aws" && pool.provider() != "azure" && pool.provider() != "gcp") {
    return Wrong(field, absl::StrCat("provider ", pool.provider(),
                                     " is not asked for prices (aws, azure and gcp are): remove it"));
  }
  if (pool.price() <= 0) return Wrong(path + ".price", "is missing: it holds until the provider has answered");
  if (absl::Status s = CheckOffer(path, pool); !s.ok()) return s;
  if (pool.provider() == "aws") return CheckAws(path, currency, pool);
  return pool.provider() == "gcp" ? CheckGcp(path, pool) : absl::OkStatus();
}

}  // namespace rekindle::fleet
