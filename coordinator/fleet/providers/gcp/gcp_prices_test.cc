// In these tests a fake cloud answers as the references of Compute Engine's machineTypes and of the Cloud Billing
// Catalog show.
#include "coordinator/fleet/providers/gcp/gcp_prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/providers/contract/provider.h"
#include "coordinator/fleet/providers/testing/cloud_testing.h"
#include "coordinator/fleet/providers/testing/gcp_sku_testing.h"

namespace rekindle::fleet {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

constexpr char kMachines[] = "/compute/v1/projects/proj/zones/us-central1-a/machineTypes/";
constexpr char kSkus[] = "/v1/services/6F81-5844-456A/skus";

json Page(const json& skus, const std::string& next = "") { return {{"skus", skus}, {"nextPageToken", next}}; }

class GcpPricesTest : public testing::Test {
 protected:
  void SetUp() override { Open(1800); }
  void Open(double list_seconds, double failed_seconds = 0) {
    const GcpOffer cpu{
        .project = "proj", .region = "us-central1", .zone = "us-central1-a", .instance_type = "n2-standard-8"};
    GcpPriceOptions options{.endpoint = cloud_.endpoint(),
                            .compute_endpoint = cloud_.endpoint(),
                            .currency = "USD",
                            .offers = {{"spot", cpu}, {"sure", cpu}, {"gpu", cpu}, {"attached", cpu}, {"micro", cpu}},
                            .list_seconds = list_seconds,
                            .failed_seconds = failed_seconds};
    options.offers["sure"].spot = false;
    options.offers["gpu"].instance_type = "g2-standard-4";
    options.offers["gpu"].gpus = options.offers["attached"].gpus = true;
    options.offers["micro"].instance_type = "e2-micro";
    auto made = NewGcpPrices(options, [this](double now) -> absl::StatusOr<Token> {
      return Token{.value = absl::StrCat("t", tokens_++), .expires = now + 3600};
    });
    ASSERT_TRUE(made.ok()) << made.status();
    prices_ = *std::move(made);
  }
  void Handle(const httplib::Request& request, httplib::Response& response) {
    EXPECT_THAT(request.get_header_value("Authorization"), StartsWith("Bearer t"));
    if (request.path == kSkus) {
      const size_t page = request.has_param("pageToken") ? std::stoul(request.get_param_value("pageToken")) : 0;
      return response.set_content(pages_.at(page).dump(), "application/json");
    }
    json machine = {{"name", LastPart(request.path)}, {"guestCpus", 8}, {"memoryMb", 32768}, {"isSharedCpu", false}};
    if (machine["name"] == "g2-standard-4") {
      machine.update({{"guestCpus", 4},
                      {"memoryMb", 16384},
                      {"accelerators", {{{"guestAcceleratorType", "nvidia-l4"}, {"guestAcceleratorCount", 1}}}}});
    }
    response.set_content(machine.dump(), "application/json");
  }
  absl::Status Refused() { return prices_->Ask("spot").status(); }
  int Lists() {
    int lists = 0;
    for (const std::string& seen : cloud_.TakeSeen()) lists += seen.find(kSkus) != std::string::npos;
    return lists;
  }

  int tokens_ = 0;
  std::vector<json> pages_ = {
      Page({Sku("N2 Instance Core running in Americas", 0.031612), Sku("Storage PD Capacity", 0.04)}, "1"),
      Page({Sku("N2 Instance Ram running in Americas", 0.004238),
            Sku("Spot Preemptible N2 Instance Ram running in Americas", 0.001)},
           "2"),
      Page({Sku("Spot Preemptible N2 Instance Core running in Americas", 0.0077),
            Sku("Spot Preemptible G2 Instance Core running in Americas", 0.01277),
            Sku("Spot Preemptible G2 Instance Ram running in Americas", 0.001496),
            Sku("Nvidia L4 GPU attached to Spot Preemptible VMs running in Americas", 0.2862)})};
  FakeCloud cloud_{[this](const auto& request, auto& response) { Handle(request, response); }};
  std::unique_ptr<PriceSource> prices_;
};

TEST_F(GcpPricesTest, SpotAndOnDemandAreTheSumOfTheParts) {
  EXPECT_NEAR(prices_->Ask("spot").value_or(0), 8 * 0.0077 + 32 * 0.001, 1e-9);
  EXPECT_THAT(
      cloud_.TakeSeen(),
      ElementsAre(absl::StrCat("GET ", kMachines, "n2-standard-8"),
                  absl::StrCat("GET ", kSkus,
                               "?currencyCode=USD&pageSize=2000&prettyPrint=false&fields=nextPageToken%2Cskus%28"
                               "description%2Ccategory%28resourceFamily%2CusageType%29%2CserviceRegions%2C"
                               "pricingInfo%2FpricingExpression%28usageUnit%2CtieredRates%29%29"),
                  HasSubstr("&pageToken=1"), HasSubstr("&pageToken=2")));
  EXPECT_NEAR(prices_->Ask("sure").value_or(0), 8 * 0.031612 + 32 * 0.004238, 1e-9);
  EXPECT_NEAR(prices_->Ask("gpu").value_or(0), 4 * 0.01277 + 16 * 0.001496 + 0.2862, 1e-9);
}

TEST_F(GcpPricesTest, OneListServesAllPoolsUntilItIsOld) {
  EXPECT_TRUE(prices_->Ask("spot").ok());
  EXPECT_TRUE(prices_->Ask("sure").ok());
  EXPECT_TRUE(prices_->Ask("spot").ok());
  EXPECT_EQ(Lists(), 3);
  EXPECT_EQ(tokens_, 2);
  Open(0);
  EXPECT_TRUE(prices_->Ask("spot").ok());
  pages_[2]["skus"][0] = Sku("Spot Preemptible N2 Instance Core running in Americas", 0.008);
  EXPECT_NEAR(prices_->Ask("spot").value_or(0), 8 * 0.008 + 32 * 0.001, 1e-9);
  EXPECT_EQ(Lists(), 6);
}

TEST_F(GcpPricesTest, AListThatCouldNotBeReadAsAWholeIsNone) {
  const auto page = [this](const auto&, auto& response) { response.set_content(pages_[0].dump(), "application/json"); };
  const auto machine = [this](const auto& request, auto& response) { Handle(request, response); };
  cloud_.Spoil(machine);
  cloud_.Spoil(page);
  cloud_.Spoil(503, "busy");
  EXPECT_TRUE(absl::IsUnavailable(Refused()));
  EXPECT_EQ(Lists(), 2);
  EXPECT_TRUE(prices_->Ask("spot").ok());
  EXPECT_EQ(Lists(), 3);
}

TEST_F(GcpPricesTest, AListThatFailsIsNotReadForEachPool) {
  Open(1800, 60);
  cloud_.Spoil([this](const auto& request, auto& response) { Handle(request, response); });
  cloud_.Spoil(503, "busy");
  EXPECT_TRUE(absl::IsUnavailable(Refused()));
  EXPECT_TRUE(absl::IsUnavailable(prices_->Ask("sure").status()));
  EXPECT_EQ(Lists(), 1);
}

TEST_F(GcpPricesTest, WhatIsNotKnownCostsNoRequest) {
  EXPECT_THAT(std::string(prices_->Ask("micro").status().message()), HasSubstr("prices e2-micro is not known: set"));
  EXPECT_THAT(cloud_.TakeSeen(), SizeIs(0));
  const absl::Status attached = prices_->Ask("attached").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(attached));
  EXPECT_THAT(std::string(attached.message()), HasSubstr("n2-standard-8 brings no GPU"));
  EXPECT_EQ(Lists(), 0);
}

TEST_F(GcpPricesTest, PagesAreBounded) {
  pages_ = {Page(json::array(), "0")};
  EXPECT_THAT(std::string(Refused().message()), HasSubstr("more than 60 pages"));
  EXPECT_EQ(Lists(), 60);
  pages_ = {Page(json::array(), std::string(5000, 'x'))};
  EXPECT_THAT(std::string(Refused().message()), HasSubstr("too long a token"));
  EXPECT_EQ(Lists(), 1);
}

TEST_F(GcpPricesTest, HostileAnswersAreRefused) {
  for (const std::string& body :
       {std::string("[]"), std::string("7"), std::string("{\"name\": "), std::string("{\"name\": \"n2-standard-8\"}"),
        std::string(R"({"name": "n2-standard-8", "guestCpus": 8, "guestCpus": 1, "memoryMb": 32768})")}) {
    cloud_.Spoil(200, body);
    EXPECT_EQ(Refused().code(), absl::StatusCode::kInternal) << body;
  }
  EXPECT_EQ(Lists(), 0);
  for (const json& page : {json::array(), json(1), json{{"skus", "all"}}}) {
    pages_ = {page};
    EXPECT_EQ(Refused().code(), absl::StatusCode::kInternal) << page;
  }
  pages_ = {Page({1, nullptr, {{"description", 7}}})};
  EXPECT_TRUE(absl::IsNotFound(Refused()));
}

TEST_F(GcpPricesTest, AnotherCurrencyIsNoPrice) {
  for (json& page : pages_) {
    for (json& sku : page["skus"]) {
      sku[json::json_pointer("/pricingInfo/0/pricingExpression/tieredRates/0/unitPrice/currencyCode")] = "EUR";
    }
  }
  EXPECT_THAT(std::string(Refused().message()), HasSubstr("has not one price of an hour in USD"));
}

TEST_F(GcpPricesTest, ErrorsHaveTheirMeaning) {
  const auto error = [](int code, const std::string& reason, const std::string& message) {
    return json{{"error", {{"code", code}, {"message", message}, {"errors", {{{"reason", reason}}}}}}}.dump();
  };
  cloud_.Spoil(404, error(404, "notFound", "The resource was not found"));
  EXPECT_TRUE(absl::IsNotFound(Refused()));
  cloud_.Spoil(404, error(404, "notFound", "The resource was not found"));
  EXPECT_THAT(std::string(Refused().message()), HasSubstr("correct the pool's instance_type and zone"));
  cloud_.Spoil(403, error(403, "rateLimitExceeded", "Rate Limit Exceeded"));
  EXPECT_EQ(RetryAfter(Refused()), 0);
  // `listed` lets Compute Engine answer and the request for the price list fail, and returns the error that the price
  // source then reports.
  const auto listed = [this](int status, const std::string& body, const httplib::Headers& headers = {}) {
    cloud_.Spoil([this](const auto& request, auto& response) { Handle(request, response); });
    cloud_.Spoil(status, body, headers);
    return Refused();
  };
  const absl::Status disabled = listed(403,
                                       R"({"error": {"code": 403, "status": "PERMISSION_DENIED",
                         "message": "Cloud Billing API has not been used in project 7 before or it is disabled."}})");
  EXPECT_TRUE(absl::IsPermissionDenied(disabled));
  EXPECT_THAT(std::string(disabled.message()), HasSubstr("Cloud Billing API has not been used in project 7"));
  EXPECT_EQ(
      RetryAfter(listed(429, R"({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}})", {{"Retry-After", "30"}})),
      30);
  EXPECT_TRUE(absl::IsInvalidArgument(listed(400, error(400, "badRequest", "Invalid currency code"))));
  EXPECT_TRUE(absl::IsUnavailable(listed(503, "busy")));
  EXPECT_TRUE(absl::IsUnauthenticated(NewGcpPrices({.endpoint = cloud_.endpoint(),
                                                    .compute_endpoint = cloud_.endpoint(),
                                                    .currency = "USD",
                                                    .offers = {{"p", {.instance_type = "n2-standard-8"}}}},
                                                   [](double) { return absl::UnauthenticatedError("no token"); })
                                          .value()
                                          ->Ask("p")
                                          .status()));
}

TEST(GcpPrices, EndpointsAreSecure) {
  const FetchToken token = [](double) { return Token{.value = "t"}; };
  EXPECT_TRUE(NewGcpPrices({}, token).ok());
  EXPECT_FALSE(NewGcpPrices({.endpoint = "http://prices.example"}, token).ok());
  EXPECT_FALSE(NewGcpPrices({.compute_endpoint = "http://compute.example"}, token).ok());
}

}  // namespace
}  // namespace rekindle::fleet
