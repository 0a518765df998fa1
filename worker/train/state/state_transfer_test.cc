#include "worker/train/state/state_transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace rekindle::train {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// Returns who sends to whom where `source` is the source that the membership names, and `needs` says of each rank
// whether it needs the state.
std::vector<std::pair<int, int>> Deliveries(int source, const std::vector<bool>& needs) {
  Membership membership;
  membership.source = Membership::Source::kRank;
  membership.source_rank = source;
  for (const bool need : needs) {
    Member member;
    member.needs_state = need;
    membership.members.push_back(member);
  }
  std::vector<std::pair<int, int>> deliveries;
  for (const auto& [from, to] : DeliveriesOf(membership)) deliveries.emplace_back(from, to);
  return deliveries;
}

TEST(DeliveriesOf, SourcesTakeTurnsFromTheOneThatTheMembershipNames) {
  EXPECT_THAT(Deliveries(1, {false, false, true, true, true}), ElementsAre(Pair(1, 2), Pair(0, 3), Pair(1, 4)));
  EXPECT_THAT(Deliveries(0, {false, true, true}), ElementsAre(Pair(0, 1), Pair(0, 2)));
  EXPECT_THAT(Deliveries(0, {false, false}), IsEmpty());
}

}  // namespace
}  // namespace rekindle::train
