// In these tests a fake cloud answers as the reference of EC2's DescribeSpotPriceHistory shows.
#include "coordinator/fleet/providers/aws/aws_prices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/fleet/providers/contract/provider.h"
#include "coordinator/fleet/providers/testing/cloud_testing.h"

namespace rekindle::fleet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr char kSecret[] = "wJalrXUtnFEMI";

std::string Item(const std::string& price, const std::string& time, const std::string& zone = "us-east-2a",
                 const std::string& system = "Linux/UNIX", const std::string& type = "c7i.large") {
  return absl::StrCat("<item><instanceType>", type, "</instanceType><productDescription>", system,
                      "</productDescription><spotPrice>", price, "</spotPrice><timestamp>", time,
                      "</timestamp><availabilityZone>", zone, "</availabilityZone></item>");
}

std::string Page(const std::string& items, const std::string& next = "") {
  return absl::StrCat(
      "<?xml version=\"1.0\"?><DescribeSpotPriceHistoryResponse "
      "xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>r</requestId><spotPriceHistorySet>",
      items, "</spotPriceHistorySet><nextToken>", next, "</nextToken></DescribeSpotPriceHistoryResponse>");
}

class AwsPricesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = NewAwsPrices(
        {.region = "us-east-2", .endpoint = cloud_.endpoint(), .offers = {{"p", {"us-east-2a", "c7i.large"}}}},
        Fixed({{"AWS_ACCESS_KEY_ID", "AKID"}, {"AWS_SECRET_ACCESS_KEY", kSecret}}));
    ASSERT_TRUE(made.ok()) << made.status();
    prices_ = *std::move(made);
  }
  absl::StatusOr<double> Told(const std::string& page) {
    page_ = page;
    return prices_->Ask("p");
  }

  std::string page_;
  FakeCloud cloud_{[this](const httplib::Request& request, httplib::Response& response) {
    EXPECT_THAT(request.get_header_value("Authorization"), HasSubstr("/us-east-2/ec2/aws4_request, SignedHeaders="));
    response.set_content(page_, "text/xml");
  }};
  std::unique_ptr<PriceSource> prices_;
};

TEST_F(AwsPricesTest, TheNewestPriceOfTypeZoneAndLinuxCounts) {
  const auto price = Told(Page(Item("0.031", "2026-11-20T10:00:00.000Z") + Item("0.0345", "2026-11-21T10:00:00.000Z") +
                               Item("0.02", "2026-11-22T10:00:00.000Z", "us-east-2b") +
                               Item("0.09", "2026-11-22T10:00:00.000Z", "us-east-2a", "Windows") +
                               Item("0.01", "2026-11-22T10:00:00.000Z", "us-east-2a", "Linux/UNIX", "c7i.xlarge") +
                               Item("0.033", "2026-11-20T11:00:00Z", "us-east-2a", "Linux/UNIX (Amazon VPC)")));
  ASSERT_TRUE(price.ok()) << price.status();
  EXPECT_EQ(*price, 0.0345);
  const auto seen = cloud_.TakeSeen();
  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_THAT(seen[0], AllOf(HasSubstr("POST / Action=DescribeSpotPriceHistory&Version=2016-11-15&"),
                             HasSubstr("&InstanceType.1=c7i.large&"), HasSubstr("AvailabilityZone=us-east-2a&"),
                             HasSubstr("ProductDescription.1=Linux%2FUNIX&"), HasSubstr("&StartTime=20")));
}

TEST_F(AwsPricesTest, PagesAreFollowedAndBounded) {
  cloud_.Spoil([](const httplib::Request&, httplib::Response& response) {
    // An empty page of prices is not always the last one, according to EC2's reference.
    response.set_content(Page("", "a/b=="), "text/xml");
  });
  EXPECT_EQ(Told(Page(Item("0.5", "2026-11-20T10:00:00.000Z"))).value_or(0), 0.5);
  EXPECT_THAT(cloud_.TakeSeen().back(), HasSubstr("&NextToken=a%2Fb%3D%3D"));
  EXPECT_EQ(Told(Page("", "again")).status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(cloud_.TakeSeen(), SizeIs(10));
}

TEST_F(AwsPricesTest, WhatIsNoPriceIsNotBelieved) {
  for (const char* price : {"", "free", "0", "-1", "nan", "inf", "1e30"}) {
    EXPECT_EQ(Told(Page(Item(price, "2026-11-20T10:00:00.000Z"))).status().code(), absl::StatusCode::kInternal)
        << price;
  }
  EXPECT_EQ(Told(Page(Item("1", "yesterday"))).status().code(), absl::StatusCode::kInternal);
  const absl::Status nobody = Told(Page("")).status();
  EXPECT_TRUE(absl::IsNotFound(nobody));
  EXPECT_THAT(std::string(nobody.message()), HasSubstr("no spot price of c7i.large in us-east-2a: correct"));
  EXPECT_FALSE(Told("<a>").ok());
}

TEST_F(AwsPricesTest, ErrorsHaveTheirMeaning) {
  const auto code = [this](int status, const std::string& code) {
    cloud_.Spoil(status,
                 absl::StrCat("<Response><Errors><Error><Code>", code,
                              "</Code><Message>no</Message></Error></Errors><RequestID>r</RequestID></Response>"));
    return prices_->Ask("p").status();
  };
  EXPECT_EQ(RetryAfter(code(503, "RequestLimitExceeded")), 0);
  EXPECT_TRUE(absl::IsUnavailable(code(500, "InternalError")));
  const absl::Status denied = code(403, "UnauthorizedOperation");
  EXPECT_TRUE(absl::IsPermissionDenied(denied));
  EXPECT_THAT(std::string(denied.message()), Not(HasSubstr(kSecret)));
}

}  // namespace
}  // namespace rekindle::fleet
