#include "coordinator/fleet/providers/local/local_market.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rekindle::fleet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

LocalMarket Open(int allowed) { return {.prefix = "p", .allowed = allowed}; }

LocalAction Start(const std::string& node) { return {LocalVerb::kStart, node}; }
LocalAction Kill(const std::string& node) { return {LocalVerb::kKill, node}; }
LocalAction Stop(const std::string& node) { return {LocalVerb::kStop, node}; }

TEST(MarketTrace, TheLastValueStays) {
  const MarketTrace trace{.nodes = {2, 2, 0, 3}, .step_seconds = 10};
  EXPECT_EQ(trace.At(-1), 2);
  EXPECT_EQ(trace.At(19.9), 2);
  EXPECT_EQ(trace.UntilChange(5), 15);
  EXPECT_EQ(trace.At(20), 0);
  EXPECT_EQ(trace.UntilChange(20), 10);
  EXPECT_EQ(trace.At(1e9), 3);
  EXPECT_EQ(trace.UntilChange(1e9), std::numeric_limits<double>::infinity());
}

TEST(LocalMarket, StartsWhatIsWantedAsFarAsTheMarketAllows) {
  LocalMarket market = Open(2);
  EXPECT_THAT(SetDesired(market, 3, {}, 0), IsEmpty());
  EXPECT_THAT(Advance(market, 0), ElementsAre(Start("p-1"), Start("p-2")));
  EXPECT_THAT(Advance(market, 1), IsEmpty());
  EXPECT_EQ(NextWake(market), std::numeric_limits<double>::infinity());
  market.allowed = 9;
  EXPECT_THAT(Advance(market, 2), ElementsAre(Start("p-3")));
}

TEST(LocalMarket, ABootTakesItsTime) {
  LocalMarket market = Open(2);
  market.boot_seconds = 30;
  SetDesired(market, 1, {}, 0);
  EXPECT_THAT(Advance(market, 0), IsEmpty());
  EXPECT_EQ(NextWake(market), 30);
  EXPECT_THAT(Advance(market, 29), IsEmpty());
  EXPECT_THAT(Advance(market, 30), ElementsAre(Start("p-1")));
}

TEST(LocalMarket, TheNewestAreNoticedAndKilledAtTheirTime) {
  LocalMarket market = Open(3);
  market.notice_seconds = 30;
  SetDesired(market, 3, {}, 0);
  Advance(market, 0);
  market.allowed = 1;
  EXPECT_THAT(Advance(market, 10),
              ElementsAre(LocalAction{LocalVerb::kNotice, "p-3", 30}, LocalAction{LocalVerb::kNotice, "p-2", 30}));
  EXPECT_EQ(market.Staying(), 1);
  EXPECT_EQ(NextWake(market), 40);
  EXPECT_THAT(Advance(market, 39), IsEmpty());
  EXPECT_THAT(Advance(market, 40), ElementsAre(Kill("p-2"), Kill("p-3")));
  // A new machine has a new name, because a machine that was killed never comes back.
  market.allowed = 2;
  EXPECT_THAT(Advance(market, 41), ElementsAre(Start("p-4")));
}

TEST(LocalMarket, WithoutNoticeTheyAreKilledAtOnce) {
  LocalMarket market = Open(2);
  SetDesired(market, 2, {}, 0);
  Advance(market, 0);
  market.allowed = 0;
  EXPECT_THAT(Advance(market, 1), ElementsAre(Kill("p-1"), Kill("p-2")));
}

TEST(LocalMarket, NamedNodesGoFirstAndThenTheNewest) {
  LocalMarket market = Open(9);
  SetDesired(market, 4, {}, 0);
  Advance(market, 0);
  EXPECT_THAT(SetDesired(market, 2, {"p-2", "who"}, 5), ElementsAre(Stop("p-2"), Stop("p-4")));
  // The second SetDesired asks for as many machines as the first one. So it ends no machine, although it names p-1 as
  // one to end.
  EXPECT_THAT(SetDesired(market, 2, {"p-1"}, 6), IsEmpty());
  EXPECT_THAT(Advance(market, 36), ElementsAre(Kill("p-2"), Kill("p-4")));
}

TEST(LocalMarket, OneThatIsStillBootingGoesWithoutAWord) {
  LocalMarket market = Open(9);
  market.boot_seconds = 30;
  SetDesired(market, 2, {}, 0);
  Advance(market, 0);
  EXPECT_THAT(SetDesired(market, 1, {}, 5), IsEmpty());
  EXPECT_THAT(Advance(market, 30), ElementsAre(Start("p-1")));
}

TEST(LocalMarket, AMachineWhoseWorkerEndsIsReplacedAndNotTooOften) {
  LocalMarket market = Open(1);
  SetDesired(market, 1, {}, 0);
  Advance(market, 0);
  EXPECT_THAT(Ended(market, "p-1", 1000, 10), ElementsAre(Kill("p-1")));
  EXPECT_THAT(Advance(market, 10), ElementsAre(Start("p-2")));
  Ended(market, "p-2", 0.1, 11);
  EXPECT_THAT(Advance(market, 11), IsEmpty());
  EXPECT_EQ(NextWake(market), 12);
  EXPECT_THAT(Advance(market, 12), ElementsAre(Start("p-3")));
  Ended(market, "p-3", 0.1, 12);
  EXPECT_EQ(NextWake(market), 14);
}

}  // namespace
}  // namespace rekindle::fleet
