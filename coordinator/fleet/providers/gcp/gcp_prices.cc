#include "coordinator/fleet/providers/gcp/gcp_prices.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/time/clock.h"
#include "coordinator/fleet/providers/gcp/gcp.h"
#include "coordinator/fleet/providers/gcp/gcp_skus.h"

namespace rekindle::fleet {
namespace {

using nlohmann::json;

// A line of the price list with all its fields has some 2 KB. So a page of `kSkusOfPage` lines stays far below
// kMaxAnswer even where the service ignores the parameter `fields`.
constexpr int kSkusOfPage = 2000;
// Google's price list has about 16 pages, far fewer than `kMaxSkuPages`.
constexpr int kMaxSkuPages = 60;
// All pages of the price list together may take `kReadSeconds` seconds.
constexpr double kReadSeconds = 180;
constexpr size_t kMaxPageToken = 4096;
// `kSkus` is the path of Compute Engine's price list.
constexpr char kSkus[] = "/v1/services/6F81-5844-456A/skus";
constexpr char kFields[] =
    "nextPageToken,skus(description,category(resourceFamily,usageType),serviceRegions,"
    "pricingInfo/pricingExpression(usageUnit,tieredRates))";

class GcpPrices final : public PriceSource {
 public:
  GcpPrices(GcpPriceOptions options, std::unique_ptr<common::Http> compute, std::unique_ptr<common::Http> billing,
            const FetchToken& token)
      : options_(std::move(options)), compute_(std::move(compute), token), billing_(std::move(billing), token) {
    for (const auto& [pool, offer] : options_.offers) regions_.insert(offer.region);
  }

  absl::StatusOr<double> Ask(const std::string& pool) override {
    const GcpOffer& offer = options_.offers.at(pool);
    if (absl::Status known = CheckGcpType(offer.instance_type); !known.ok()) return known;
    const absl::StatusOr<GcpMachine> machine = MachineOf(offer);
    if (!machine.ok()) return machine.status();
    if (offer.gpus && !machine->gpus) {
      return absl::FailedPreconditionError(
          absl::StrCat(offer.instance_type,
                       " brings no GPU, and what those cost that the group attaches is not told: ", kGcpPriceFix));
    }
    if (absl::Status read = ReadList(); !read.ok()) return read;
    return GcpPrice(*machine, offer.region, offer.spot, rates_);
  }

 private:
  absl::StatusOr<GcpMachine> MachineOf(const GcpOffer& offer) {
    const absl::StatusOr<json> document =
        compute_.Call("GET", absl::StrCat("/compute/v1/projects/", offer.project, "/zones/", offer.zone,
                                          "/machineTypes/", offer.instance_type));
    if (document.ok()) return ParseGcpMachine(offer.instance_type, *document);
    if (!absl::IsNotFound(document.status())) return RefineGcpLimit(document.status());
    return absl::NotFoundError(absl::StrCat(std::string(document.status().message()),
                                            ": correct the pool's instance_type and zone, or its machines.project"));
  }

  // Reads the price list, unless that was tried a short while ago. A list of which a page is missing is not used.
  absl::Status ReadList() {
    const double begun = common::SteadySeconds();
    if (begun < fresh_until_) return read_;
    read_ = ReadPages(begun);
    fresh_until_ = read_.ok() ? begun + options_.list_seconds : common::SteadySeconds() + options_.failed_seconds;
    return read_;
  }

  absl::Status ReadPages(double begun) {
    GcpRates rates;
    std::string next;
    for (int page = 0; page < kMaxSkuPages; ++page) {
      if (absl::Status time = CheckTime(begun, kReadSeconds); !time.ok()) return time;
      const absl::StatusOr<json> skus =
          billing_.Call("GET", absl::StrCat(kSkus, "?currencyCode=", Escaped(options_.currency),
                                            "&pageSize=", kSkusOfPage, "&prettyPrint=false&fields=", Escaped(kFields),
                                            next.empty() ? "" : absl::StrCat("&pageToken=", Escaped(next))));
      if (!skus.ok()) return RefineGcpLimit(skus.status());
      if (absl::Status taken = TakeGcpSkus(*skus, options_.currency, regions_, rates); !taken.ok()) return taken;
      next = common::StringOr(*skus, "nextPageToken");
      if (next.size() > kMaxPageToken) return absl::InternalError(absl::StrCat("GET ", kSkus, ": too long a token"));
      if (!next.empty()) continue;
      rates_ = std::move(rates);
      return absl::OkStatus();
    }
    return absl::InternalError(absl::StrCat("GET ", kSkus, ": more than ", kMaxSkuPages, " pages"));
  }

  const GcpPriceOptions options_;
  std::set<std::string> regions_;
  BearerApi compute_;
  BearerApi billing_;
  // `rates_` holds the rates of the last price list that was read as a whole.
  GcpRates rates_;
  // `read_` says whether the newest attempt to read the price list succeeded.
  absl::Status read_;
  double fresh_until_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PriceSource>> NewGcpPrices(GcpPriceOptions options, const FetchToken& token) {
  const common::HttpOptions bounds = {.seconds = kApiSeconds, .max_body = kMaxAnswer, .reach = common::Reach::kSecure};
  auto compute = common::OpenHttp(options.compute_endpoint.empty() ? kGcpEndpoint : options.compute_endpoint, bounds);
  if (!compute.ok()) return compute.status();
  auto billing = common::OpenHttp(options.endpoint.empty() ? kGcpPricesEndpoint : options.endpoint, bounds);
  if (!billing.ok()) return billing.status();
  return std::make_unique<GcpPrices>(std::move(options), *std::move(compute), *std::move(billing), token);
}

}  // namespace rekindle::fleet
