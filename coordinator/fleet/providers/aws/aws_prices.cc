#include "coordinator/fleet/providers/aws/aws_prices.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/time/clock.h"
#include "coordinator/fleet/providers/aws/aws_query.h"

namespace rekindle::fleet {
namespace {

constexpr char kVersion[] = "2016-11-15";
constexpr char kAction[] = "DescribeSpotPriceHistory";
constexpr int kMaxPricePages = 10;
// EC2 has two names for the product Linux. A request for either of them may be answered with either of them.
constexpr char kLinux[] = "Linux/UNIX";
constexpr char kLinuxInVpc[] = "Linux/UNIX (Amazon VPC)";

std::string TimeText(double unix_seconds) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(static_cast<int64_t>(unix_seconds)),
                          absl::UTCTimeZone());
}

struct Newest {
  absl::Time since = absl::InfinitePast();
  double price = 0;
};

class AwsPrices final : public PriceSource {
 public:
  AwsPrices(AwsPriceOptions options, std::unique_ptr<AwsQuery> api)
      : options_(std::move(options)), api_(std::move(api)) {}

  // Asks EC2 for the spot prices from the present moment on. EC2 also answers with the last change before that moment,
  // which is the present price.
  absl::StatusOr<double> Ask(const std::string& pool) override {
    const AwsOffer& offer = options_.offers.at(pool);
    AwsQuery::Parameters parameters = {{"InstanceType.1", offer.instance_type},
                                       {"AvailabilityZone", offer.zone},
                                       {"ProductDescription.1", kLinux},
                                       {"ProductDescription.2", kLinuxInVpc},
                                       {"StartTime", TimeText(common::WallSeconds())}};
    Newest newest;
    for (int page = 0; page < kMaxPricePages; ++page) {
      const absl::StatusOr<Xml> answer = api_->Call(kAction, parameters);
      if (!answer.ok()) return answer.status();
      for (const Xml& item : (*answer)["spotPriceHistorySet"].children) {
        if (absl::Status taken = Take(item, offer, newest); !taken.ok()) return taken;
      }
      const std::string& next = (*answer)["nextToken"].text;
      if (next.empty()) return Checked(newest, offer);
      parameters["NextToken"] = next;
    }
    return absl::InternalError(absl::StrCat(kAction, ": more than ", kMaxPricePages, " pages of one price"));
  }

 private:
  static absl::Status Take(const Xml& item, const AwsOffer& offer, Newest& newest) {
    const std::string& system = item["productDescription"].text;
    if (item["instanceType"].text != offer.instance_type || item["availabilityZone"].text != offer.zone ||
        (system != kLinux && system != kLinuxInVpc)) {
      return absl::OkStatus();
    }
    const std::optional<double> price = ParsePrice(item["spotPrice"].text);
    absl::Time since;
    std::string error;
    if (!price || !absl::ParseTime(absl::RFC3339_full, item["timestamp"].text, &since, &error)) {
      return absl::InternalError(absl::StrCat(kAction, ": an item without a price and a time"));
    }
    if (since > newest.since) newest = {since, *price};
    return absl::OkStatus();
  }

  absl::StatusOr<double> Checked(const Newest& newest, const AwsOffer& offer) const {
    if (newest.price > 0) return newest.price;
    return absl::NotFoundError(absl::StrCat("AWS tells no spot price of ", offer.instance_type, " in ", offer.zone,
                                            ": correct the pool's instance_type and zone"));
  }

  const AwsPriceOptions options_;
  const std::unique_ptr<AwsQuery> api_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PriceSource>> NewAwsPrices(AwsPriceOptions options, Variables variables) {
  auto api =
      AwsQuery::Open({.service = "ec2", .version = kVersion, .region = options.region, .endpoint = options.endpoint},
                     std::move(variables));
  if (!api.ok()) return api.status();
  return std::make_unique<AwsPrices>(std::move(options), *std::move(api));
}

}  // namespace rekindle::fleet
