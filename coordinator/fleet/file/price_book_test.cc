#include "coordinator/fleet/file/price_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/fleet/file/fleet_text.h"

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
  const auto fleet = ParseFleet(kFleet, "fleet.yaml");
  EXPECT_TRUE(fleet.ok()) << fleet.status();
  return fleet.ok() ? ToPriceBook(*fleet, 7) : core::PriceBook{};
}

std::string Refused(const std::string& text) {
  const auto fleet = ParseFleet(text, "fleet.yaml");
  EXPECT_EQ(fleet.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(fleet.status().message());
}

TEST(PriceBook, EachSecondCostsThePriceOfItsTime) {
  const core::PriceBook book = Book();
  const core::PriceHistory& history = book.pools.at("spot").price;
  // The first price of a history also holds before the time that it is stated for.
  EXPECT_EQ(core::PriceAt(history, 0), 1);
  EXPECT_EQ(core::PriceAt(history, 7199), 1);
  EXPECT_EQ(core::PriceAt(history, 7200), 2);
  EXPECT_DOUBLE_EQ(core::CostBetween(history, 3600, 10800), 3);
  EXPECT_DOUBLE_EQ(core::CostBetween(history, 5400, 9000), 1.5);
  // A span of time that ends before it begins, because a clock went back, costs nothing.
  EXPECT_EQ(core::CostBetween(history, 9000, 5400), 0);
  EXPECT_EQ(core::CostBetween({}, 0, 3600), 0);
}

TEST(PriceBook, OnDemandPricesAreFound) {
  const core::PriceBook book = Book();
  const auto on_demand = [&](const char* pool) { return core::PriceAt(book.pools.at(pool).on_demand, 0); };
  // The on-demand price of a spot pool is that of its own zone and not that of the first on-demand pool in the region.
  EXPECT_EQ(on_demand("spot"), 6);
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
  // Prices without a history are as old as the `as_of` of the fleet file.
  EXPECT_FALSE(core::IsStale(book, book.pools.at("here"), 2 * kDay));
  EXPECT_TRUE(core::IsStale(book, book.pools.at("here"), 2 * kDay + 1));
}

core::PriceBook AskedBook(const std::string& type) {
  const auto fleet = ParseFleet(R"(
pools:
  - {name: spot, provider: azure, region: r, zone: a, instance_type: )" +
                                    type + R"(, capacity: spot, price: 1, price_from: provider,
     machines: {group: g, subscription: s, resource_group: r}}
  - {name: sure, provider: azure, region: r, zone: a, instance_type: )" +
                                    type + R"(, capacity: on_demand, price: 3,
     price_from: provider, machines: {group: h, subscription: s, resource_group: r}}
  - {name: stated, provider: azure, region: r, zone: b, instance_type: )" +
                                    type + R"(, capacity: spot, price: 1, on_demand_price: 9}
)",
                                "fleet.yaml");
  EXPECT_TRUE(fleet.ok()) << fleet.status();
  return fleet.ok() ? ToPriceBook(*fleet, 1000) : core::PriceBook{};
}

TEST(PriceBook, WhatAProviderSaysBecomesHistory) {
  core::PriceBook book = AskedBook("t");
  const core::PoolPrices& spot = book.pools.at("spot");
  EXPECT_TRUE(core::TakePrice({"spot", 2}, 5000, book));
  EXPECT_DOUBLE_EQ(core::CostBetween(spot.price, 3200, 6800), 0.5 + 1);
  EXPECT_FALSE(core::TakePrice({"spot", 2}, 6000, book));
  EXPECT_EQ(spot.price.size(), 2u);
  EXPECT_EQ(core::KnownSince(spot, 7000), 6000);
  // A new price of the on-demand pool "sure" also changes the on-demand price of the spot pool "spot".
  EXPECT_TRUE(core::TakePrice({"sure", 4}, 6000, book));
  EXPECT_EQ(core::PriceAt(spot.on_demand, 7000), 4);
  EXPECT_EQ(core::PriceAt(book.pools.at("stated").on_demand, 7000), 9);
  // A price for a pool whose provider is not asked for prices is ignored.
  EXPECT_FALSE(core::TakePrice({"stated", 2}, 7000, book));
  EXPECT_FALSE(core::TakePrice({"nowhere", 2}, 7000, book));
  // The clock was set back between two answers of the provider: the one before came at 6000, and this one comes at
  // 4000. The newest answer counts.
  EXPECT_TRUE(core::TakePrice({"spot", 3}, 4000, book));
  EXPECT_EQ(core::PriceAt(spot.price, 9000), 3);
  for (int i = 0; i < 3000; ++i) core::TakePrice({"spot", 1.0 + i % 2}, 10'000 + i, book);
  EXPECT_EQ(spot.price.size(), 1000u);
}

TEST(PriceBook, APriceThatNobodyRepeatsIsStaleAfterAnHour) {
  core::PriceBook book = AskedBook("t");
  const auto stale = [&](const char* pool, double at) { return core::IsStale(book, book.pools.at(pool), at); };
  // While the provider has not answered, the price is that of the fleet file, which was written at 1000.
  EXPECT_FALSE(stale("spot", 4600));
  EXPECT_TRUE(stale("spot", 4601));
  EXPECT_FALSE(stale("stated", 1e9));
  core::TakePrice({"spot", 2}, 5000, book);
  EXPECT_FALSE(stale("spot", 8600));
  EXPECT_TRUE(stale("spot", 8601));
  core::TakePrice({"spot", 2}, 9000, book);
  EXPECT_FALSE(stale("spot", 9001));
}

TEST(PriceBook, WhatWasHeardStaysWithItsOffer) {
  core::PriceBook before = AskedBook("t");
  core::TakePrice({"spot", 2}, 5000, before);
  core::TakePrice({"sure", 4}, 5000, before);
  core::PriceBook same = AskedBook("t"), other = AskedBook("u");
  core::KeepHeard(before, same);
  core::KeepHeard(before, other);
  EXPECT_EQ(core::PriceAt(same.pools.at("spot").price, 6000), 2);
  EXPECT_EQ(core::PriceAt(same.pools.at("spot").on_demand, 6000), 4);
  EXPECT_EQ(core::PriceAt(other.pools.at("spot").price, 6000), 1);
  EXPECT_EQ(core::PriceAt(other.pools.at("spot").on_demand, 6000), 3);
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
