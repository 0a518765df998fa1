#include "coordinator/fleet/providers/azure/azure_prices.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "common/time/clock.h"
#include "coordinator/fleet/providers/http/bearer_api.h"

namespace rekindle::fleet {
namespace {

using nlohmann::json;

constexpr int kMaxPricePages = 10;
constexpr char kWhat[] = "Azure's retail prices";

struct Dearest {
  absl::Time since = absl::InfinitePast();
  double price = 0;
};

class AzurePrices final : public PriceSource {
 public:
  AzurePrices(std::string endpoint, std::string currency, std::unique_ptr<common::Http> http,
              std::map<std::string, AzureOffer> offers)
      : endpoint_(std::move(endpoint)),
        currency_(std::move(currency)),
        offers_(std::move(offers)),
        api_(std::move(http), nullptr) {}

  absl::StatusOr<double> Ask(const std::string& pool) override {
    const AzureOffer& offer = offers_.at(pool);
    const std::string filter =
        absl::StrCat("serviceName eq 'Virtual Machines' and priceType eq 'Consumption' and armRegionName eq '",
                     offer.region, "' and armSkuName eq '", offer.instance_type, "'");
    std::string next =
        absl::StrCat("/api/retail/prices?currencyCode=", Escaped("'" + currency_ + "'"), "&$filter=", Escaped(filter));
    Dearest found;
    for (int page = 0; page < kMaxPricePages; ++page) {
      const absl::StatusOr<json> answer = api_.Call("GET", next);
      if (!answer.ok()) return answer.status();
      for (const json& item : Member(*answer, "Items")) {
        if (absl::Status taken = Take(item, offer, found); !taken.ok()) return taken;
      }
      const std::string link = common::StringOr(*answer, "NextPageLink");
      if (link.empty()) return Checked(found, offer);
      absl::StatusOr<std::string> path = PathOf(link);
      if (!path.ok()) return path.status();
      next = *std::move(path);
    }
    return absl::InternalError(absl::StrCat(kWhat, ": more than ", kMaxPricePages, " pages of one machine"));
  }

 private:
  // Returns the path in a link to the next page. It refuses a link to another host, because only the price service is
  // to be asked.
  absl::StatusOr<std::string> PathOf(const std::string& link) const {
    absl::string_view rest = link;
    if (absl::ConsumePrefix(&rest, endpoint_)) {
      // In its links to next pages, the price service writes the port after the host, which `endpoint_` does not have.
      absl::ConsumePrefix(&rest, ":443");
      const bool fit = std::all_of(rest.begin(), rest.end(), [](char c) { return c >= ' ' && c <= '~'; });
      if (fit && absl::StartsWith(rest, "/")) return absl::StrReplaceAll(rest, {{" ", "%20"}});
    }
    return absl::InternalError(absl::StrCat(kWhat, ": a next page on another host"));
  }

  // Puts the price of an item of the price list into `found` where the item fits the offer. For one machine type the
  // list has prices of Windows, Cloud Services, spot, low priority, and days to come. Where several fitting prices are
  // left, the newest counts, and of equally new ones the highest.
  absl::Status Take(const json& item, const AzureOffer& offer, Dearest& found) const {
    const auto text = [&](const char* key) { return common::StringOr(item, key); };
    const std::string product = text("productName");
    const std::string sku = text("skuName");
    if (text("armSkuName") != offer.instance_type || text("armRegionName") != offer.region ||
        text("type") != "Consumption" || text("unitOfMeasure") != "1 Hour") {
      return absl::OkStatus();
    }
    if (absl::StrContains(product, "Windows") || absl::StrContains(product, "CloudServices") ||
        absl::StrContains(product, "Cloud Services") || absl::StrContains(sku, "Low Priority") ||
        absl::StrContains(sku, "Expired") || absl::EndsWith(sku, " Spot") != offer.spot) {
      return absl::OkStatus();
    }
    const json& value = Member(item, "retailPrice");
    const std::optional<double> price = value.is_number() ? CheckedPrice(value.get<double>()) : std::nullopt;
    absl::Time since;
    std::string error;
    if (!price || text("currencyCode") != currency_ ||
        !absl::ParseTime(absl::RFC3339_full, text("effectiveStartDate"), &since, &error)) {
      return absl::InternalError(absl::StrCat(kWhat, ": an item without a price in ", currency_, " and a time"));
    }
    if (absl::ToDoubleSeconds(since - absl::UnixEpoch()) > common::WallSeconds()) return absl::OkStatus();
    if (since > found.since || (since == found.since && *price > found.price)) found = {since, *price};
    return absl::OkStatus();
  }

  static absl::StatusOr<double> Checked(const Dearest& found, const AzureOffer& offer) {
    if (found.price > 0) return found.price;
    return absl::NotFoundError(absl::StrCat("Azure tells no ", offer.spot ? "spot" : "on-demand", " price of ",
                                            offer.instance_type, " in ", offer.region,
                                            ": correct the pool's instance_type and region"));
  }

  const std::string endpoint_;
  const std::string currency_;
  const std::map<std::string, AzureOffer> offers_;
  BearerApi api_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PriceSource>> NewAzurePrices(const std::string& endpoint, const std::string& currency,
                                                            std::map<std::string, AzureOffer> offers) {
  const std::string used = endpoint.empty() ? kAzurePricesEndpoint : endpoint;
  auto http = common::OpenHttp(used, {.seconds = kApiSeconds, .max_body = kMaxAnswer, .reach = common::Reach::kSecure});
  if (!http.ok()) return http.status();
  return std::make_unique<AzurePrices>(used, currency, *std::move(http), std::move(offers));
}

}  // namespace rekindle::fleet
