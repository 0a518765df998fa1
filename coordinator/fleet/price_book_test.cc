#include "coordinator/fleet/price_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::fleet {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr char kFleet[] = R"(
currency: EUR
stale_after_hours: 24
as_of: "1970-01-02T00:00:00Z"
pools:
  - {name: spot, provider: aws, region: r, zone: ra, instance_type: t, capacity: spot, devices: 4, prices: [
      {from: "1970-01-01T01:00:00Z", price: 1}, {from: "1970-01-01T02:00:00Z", price: 2}]}
  - {name: elsewhere, provider: aws, region: r, zone: rb, instance_type: t, capacity: on_demand, price: 5}
  - {name: here, provider: aws, region: r, zone: ra, instance_type: t, capacity: on_demand, price: 6}
  - {name: stated, provider: aws, region: r, zone: rb, instance_type: t, capacity: spot, price: 1, on_demand_price: 9}
  - {name: lonely, provider: aws, region: s, zone: sa, instance_type: t, capacity: spot, price: 1}
)";

core::PriceBook Book() {
  const auto book = ToPriceBook(kFleet, "fleet.yaml", 7);
  EXPECT_TRUE(book.ok()) << book.status();
  return book.value_or(core::PriceBook{});
}

std::string Refused(const std::string& text) {
  const auto book = ToPriceBook(text, "fleet.yaml", 0);
  EXPECT_EQ(book.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(book.status().message());
}

TEST(PriceBook, EachSecondCostsThePriceOfItsTime) {
  const core::PriceBook book = Book();
  const core::PriceHistory& history = book.pools.at("spot").price;
  EXPECT_EQ(core::PriceAt(history, 0), 1);  // The first holds before, too.
  EXPECT_EQ(core::PriceAt(history, 7199), 1);
  EXPECT_EQ(core::PriceAt(history, 7200), 2);
  EXPECT_DOUBLE_EQ(core::CostBetween(history, 3600, 10800), 3);
  EXPECT_DOUBLE_EQ(core::CostBetween(history, 5400, 9000), 1.5);
  EXPECT_EQ(core::CostBetween(history, 9000, 5400), 0);  // A clock that went back.
  EXPECT_EQ(core::CostBetween({}, 0, 3600), 0);
}

TEST(PriceBook, OnDemandPricesAreFound) {
  const core::PriceBook book = Book();
  const auto on_demand = [&](const char* pool) { return core::PriceAt(book.pools.at(pool).on_demand, 0); };
  EXPECT_EQ(on_demand("spot"), 6);  // Of its zone rather than the first of its region.
  EXPECT_EQ(on_demand("here"), 6);
  EXPECT_EQ(on_demand("stated"), 9);
  EXPECT_TRUE(book.pools.at("lonely").on_demand.empty());
  EXPECT_EQ(book.pools.at("spot").devices, 4);
  EXPECT_EQ(core::FindPool(book, "nowhere"), nullptr);
}

TEST(PriceBook, OldPricesAreStale) {
  const core::PriceBook book = Book();
  constexpr double kDay = 86400;
  EXPECT_FALSE(core::IsStale(book, book.pools.at("spot"), 7200 + kDay));
  EXPECT_TRUE(core::IsStale(book, book.pools.at("spot"), 7200 + kDay + 1));
  EXPECT_FALSE(core::IsStale(book, book.pools.at("here"), 2 * kDay));  // Since as_of.
  EXPECT_TRUE(core::IsStale(book, book.pools.at("here"), 2 * kDay + 1));
}

TEST(PriceBook, WhatIsWrongIsNamed) {
  const std::string pool = "pools: [{provider: aws, zone: a, instance_type: t, capacity: spot, ";
  EXPECT_THAT(Refused(pool + "price: -1}]"), AllOf(HasSubstr("fleet.yaml: pools[0].price: -1 is out of range")));
  EXPECT_THAT(Refused(pool + "on_demand_price: -1}]"), HasSubstr("pools[0].on_demand_price: -1 is out of range"));
  EXPECT_THAT(Refused(pool + "prices: [{from: soon, price: 1}]}]"),
              HasSubstr("pools[0].prices[0].from: 'soon' is not a time: write it as 2026-11-22T00:00:00Z"));
  const std::string day = "{from: \"2026-11-22T00:00:00Z\", price: ";
  EXPECT_THAT(Refused(pool + "prices: [" + day + "-2}]}]"), HasSubstr("pools[0].prices[0].price: -2 is out of range"));
  EXPECT_THAT(Refused(pool + "prices: [" + day + "1}, " + day + "2}]}]"), HasSubstr("list the oldest first"));
  EXPECT_THAT(Refused(pool + "price: 1, prices: [" + day + "2}]}]"), HasSubstr("given beside prices: remove one"));
  EXPECT_THAT(Refused(pool + "price: 1}]\nas_of: today"), HasSubstr("as_of: 'today' is not a time"));
  EXPECT_THAT(Refused(pool + "price: 1}]\nstale_after_hours: -1"), HasSubstr("stale_after_hours: -1 is out of range"));
}

TEST(PriceBook, AmountsAreReadable) {
  EXPECT_EQ(core::Money(12.3456, "USD"), "12.35 USD");
  EXPECT_EQ(core::Money(0.01234, "USD"), "0.0123 USD");
  EXPECT_EQ(core::Money(0, "EUR"), "0.00 EUR");
}

}  // namespace
}  // namespace rekindle::fleet
