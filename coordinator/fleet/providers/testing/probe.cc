// This test program makes one call to the provider of a pool, as the coordinator would make it.
//   fleet_provider_probe FLEET.yaml desired POOL N [NODE...]
//   fleet_provider_probe FLEET.yaml list POOL
//   fleet_provider_probe FLEET.yaml price POOL
// The program prints {"code": "OK", "message": "", "retry_after": null}. `list` adds "machines", "desired", "shortage"
// and "waiting", and `price` adds "price".
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "common/files/file.h"
#include "coordinator/fleet/file/fleet_text.h"
#include "coordinator/fleet/providers/registry/priced_accounts.h"
#include "coordinator/fleet/providers/registry/registry.h"

namespace {

using nlohmann::json;
using rekindle::fleet::Listing;
using rekindle::fleet::Provider;

constexpr double kSeconds = 20;

json Shown(const absl::Status& status) {
  const auto retry_after = rekindle::fleet::RetryAfter(status);
  return {{"code", absl::StatusCodeToString(status.code())},
          {"message", std::string(status.message())},
          {"retry_after", retry_after ? json(*retry_after) : json()}};
}

json List(Provider& provider, const std::string& pool) {
  const absl::StatusOr<Listing> listing = provider.List(pool, kSeconds);
  json out = Shown(listing.status());
  if (!listing.ok()) return out;
  out["machines"] = json::array();
  for (const auto& machine : listing->machines) {
    const char* state[] = {"starting", "running", "ending"};
    out["machines"].push_back(
        {{"id", machine.id}, {"node", machine.node}, {"state", state[static_cast<int>(machine.state)]}});
  }
  if (listing->desired) out["desired"] = *listing->desired;
  out["shortage"] = Shown(listing->shortage);
  out["waiting"] = listing->waiting;
  return out;
}

absl::StatusOr<json> Price(const rekindle::v1::Fleet& fleet, const std::string& pool) {
  const auto accounts = rekindle::fleet::OpenPrices(fleet);
  if (!accounts.ok()) return accounts.status();
  for (const auto& account : *accounts) {
    for (const std::string& each : account.pools) {
      if (each != pool) continue;
      const absl::StatusOr<double> price = account.source->Ask(pool);
      json out = Shown(price.status());
      if (price.ok()) out["price"] = *price;
      return out;
    }
  }
  return absl::NotFoundError(absl::StrCat("no pool ", pool, " with price_from: provider"));
}

absl::StatusOr<json> Run(const std::vector<std::string>& arguments) {
  const std::string& path = arguments.at(0);
  const auto text = rekindle::common::ReadFile(*rekindle::common::PosixFileSystem(), path, 1 << 20);
  if (!text.ok()) return text.status();
  const auto fleet = rekindle::fleet::ParseFleet(*text, path);
  if (!fleet.ok()) return fleet.status();
  if (arguments.at(1) == "price") return Price(*fleet, arguments.at(2));
  const auto providers = rekindle::fleet::OpenProviders(*fleet, {});
  if (!providers.ok()) return providers.status();
  const std::string& pool = arguments.at(2);
  for (const auto& account : providers->accounts) {
    for (const auto& each : account.pools) {
      if (each.pool != pool) continue;
      if (arguments.at(1) == "list") return List(*account.provider, pool);
      return Shown(account.provider->SetDesired(pool, std::stoi(arguments.at(3)),
                                                {arguments.begin() + 4, arguments.end()}, kSeconds));
    }
  }
  return absl::NotFoundError(absl::StrCat("no pool ", pool, " with machines"));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const absl::StatusOr<json> answer = Run({argv + 1, argv + argc});
  if (!answer.ok()) {
    std::cerr << answer.status() << "\n";
    return EXIT_FAILURE;
  }
  std::cout << *answer << "\n";
  return EXIT_SUCCESS;
}
