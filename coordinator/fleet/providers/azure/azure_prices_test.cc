// In these tests a fake cloud answers as the reference of the Azure Retail Prices API shows.
#include "coordinator/fleet/providers/azure/azure_prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/providers/contract/provider.h"
#include "coordinator/fleet/providers/testing/cloud_testing.h"

namespace rekindle::fleet {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

json Item(double price, const std::string& sku, const json& more = json::object()) {
  json item = {{"currencyCode", "USD"},
               {"tierMinimumUnits", 0.0},
               {"retailPrice", price},
               {"unitPrice", price},
               {"armRegionName", "eastus"},
               {"location", "US East"},
               {"effectiveStartDate", "2026-11-01T00:00:00Z"},
               {"meterId", "000a794b-bdb0-58be-a0cd-0c3a0f222923"},
               {"meterName", sku},
               {"productId", "DZH318Z0BQPS"},
               {"skuId", "DZH318Z0BQPS/00TG"},
               {"productName", "Virtual Machines FSv2 Series"},
               {"skuName", sku},
               {"serviceName", "Virtual Machines"},
               {"serviceId", "DZH313Z7MMC8"},
               {"serviceFamily", "Compute"},
               {"unitOfMeasure", "1 Hour"},
               {"type", "Consumption"},
               {"isPrimaryMeterRegion", true},
               {"armSkuName", "Standard_F8s_v2"}};
  item.update(more);
  return item;
}

json Page(const json& items, const json& next = nullptr) {
  return {{"BillingCurrency", "USD"}, {"CustomerEntityId", "Default"}, {"CustomerEntityType", "Retail"},
          {"Items", items},           {"NextPageLink", next},          {"Count", items.size()}};
}

class AzurePricesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made =
        NewAzurePrices(cloud_.endpoint(), "USD",
                       {{"spot", {"eastus", "Standard_F8s_v2", true}}, {"sure", {"eastus", "Standard_F8s_v2", false}}});
    ASSERT_TRUE(made.ok()) << made.status();
    prices_ = *std::move(made);
  }
  absl::StatusOr<double> Told(const json& items) {
    page_ = Page(items);
    return prices_->Ask("spot");
  }

  json page_;
  FakeCloud cloud_{[this](const httplib::Request& request, httplib::Response& response) {
    EXPECT_FALSE(request.has_header("Authorization"));
    response.set_content(page_.dump(), "application/json");
  }};
  std::unique_ptr<PriceSource> prices_;
};

TEST_F(AzurePricesTest, SpotAndOnDemandOfLinuxAreTold) {
  page_ = Page(
      {Item(0.338, "F8s v2"), Item(0.09, "F8s v2 Spot"), Item(0.07, "F8s v2 Low Priority"), Item(0.2, "F8s v2 Expired"),
       Item(0.5, "F8s v2 Spot", {{"productName", "Virtual Machines FSv2 Series Windows"}}),
       Item(0.6, "F8s v2", {{"productName", "FSv2 Series CloudServices"}}),
       Item(0.01, "F8s v2 Spot", {{"armRegionName", "westus"}}), Item(900, "F8s v2", {{"type", "Reservation"}}),
       Item(0.01, "F8s v2 Spot", {{"unitOfMeasure", "1/Month"}}),
       Item(0.02, "F8s v2 Spot", {{"effectiveStartDate", "2999-01-01T00:00:00Z"}}),
       Item(0.3, "F8s v2 Spot", {{"effectiveStartDate", "2026-10-01T00:00:00Z"}})});
  EXPECT_EQ(prices_->Ask("spot").value_or(0), 0.09);
  EXPECT_EQ(prices_->Ask("sure").value_or(0), 0.338);
  const auto seen = cloud_.TakeSeen();
  ASSERT_THAT(seen, SizeIs(2));
  EXPECT_EQ(seen[0],
            "GET /api/retail/prices?currencyCode=%27USD%27&$filter=serviceName%20eq%20%27Virtual%20Machines%27%20and%20"
            "priceType%20eq%20%27Consumption%27%20and%20armRegionName%20eq%20%27eastus%27%20and%20armSkuName%20eq%20%27"
            "Standard_F8s_v2%27");
}

TEST_F(AzurePricesTest, OfTwoThatHoldTheDearestCounts) {
  EXPECT_EQ(Told({Item(0.09, "F8s v2 Spot"), Item(0.1, "F8s v2 Spot"), Item(0.08, "F8s v2 Spot")}).value_or(0), 0.1);
}

TEST_F(AzurePricesTest, PagesAreFollowedOnItsOwnHostAlone) {
  const std::string more = "/api/retail/prices?$filter=armRegionName eq 'eastus'&$skip=1000";
  page_ = Page(json::array({Item(0.09, "F8s v2 Spot")}));
  cloud_.Spoil(200, Page(json::array(), cloud_.endpoint() + more).dump());
  EXPECT_EQ(prices_->Ask("spot").value_or(0), 0.09);
  EXPECT_EQ(cloud_.TakeSeen().back(), "GET /api/retail/prices?$filter=armRegionName%20eq%20%27eastus%27&$skip=1000");
  for (const std::string& link : {std::string("https://evil.example/api"), cloud_.endpoint() + ".evil.example/api",
                                  cloud_.endpoint() + "/a\r\nHost: evil.example", std::string("/api")}) {
    cloud_.Spoil(200, Page(json::array(), link).dump());
    EXPECT_EQ(prices_->Ask("spot").status().code(), absl::StatusCode::kInternal) << link;
  }
  (void)cloud_.TakeSeen();
  page_ = Page(json::array(), cloud_.endpoint() + more);
  EXPECT_EQ(prices_->Ask("spot").status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(cloud_.TakeSeen(), SizeIs(10));
}

TEST_F(AzurePricesTest, WhatIsNoPriceIsNotBelieved) {
  for (const json& price : {json("0.1"), json(0), json(-1), json(1e30), json()}) {
    EXPECT_EQ(Told(json::array({Item(1, "F8s v2 Spot", {{"retailPrice", price}})})).status().code(),
              absl::StatusCode::kInternal)
        << price;
  }
  EXPECT_FALSE(Told(json::array({Item(1, "F8s v2 Spot", {{"currencyCode", "EUR"}})})).ok());
  EXPECT_FALSE(Told(json::array({Item(1, "F8s v2 Spot", {{"effectiveStartDate", 7}})})).ok());
  const absl::Status nobody = Told(json::array({Item(0.3, "F8s v2")})).status();
  EXPECT_TRUE(absl::IsNotFound(nobody));
  EXPECT_THAT(std::string(nobody.message()), HasSubstr("no spot price of Standard_F8s_v2 in eastus: correct"));
  for (const json& page : {json::array(), json(1), json{{"Items", 7}}, json{{"Items", {1, nullptr}}}}) {
    cloud_.Spoil(200, page.dump());
    EXPECT_FALSE(prices_->Ask("spot").ok()) << page;
  }
}

TEST_F(AzurePricesTest, ErrorsHaveTheirMeaning) {
  cloud_.Spoil(429, "{}", {{"Retry-After", "30"}});
  EXPECT_EQ(RetryAfter(prices_->Ask("spot").status()), 30);
  cloud_.Spoil(503, "busy");
  EXPECT_TRUE(absl::IsUnavailable(prices_->Ask("spot").status()));
  cloud_.Spoil(400, R"({"Error": {"Code": "BadRequest"}})");
  EXPECT_TRUE(absl::IsInvalidArgument(prices_->Ask("spot").status()));
}

}  // namespace
}  // namespace rekindle::fleet
