#include "worker/train/state/state_transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "worker/comm/testing/in_process.h"
#include "worker/device/exchange/exchange_maker.h"
#include "worker/train/testing/host_state.h"
#include "worker/train/testing/testing_layout.h"

namespace rekindle::train {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

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

// Returns scalars that are as long as they can be for `layout`.
StateScalars LongestScalars(const ParameterLayout& layout) {
  StateScalars scalars = FirstScalars(layout);
  scalars.step = 9;
  scalars.missed.assign(layout.parameters.size(), 3);
  for (int i = 0; i < kMaxLeverValues; ++i) {
    std::string name = "lever_" + std::to_string(i);
    name.resize(kMaxLeverName, 'x');
    scalars.levers[name] = i;
  }
  return scalars;
}

TEST(StateTransfer, ScalarsOfAnyLengthArrive) {
  const ParameterLayout layout = testing::MakeLayout(std::vector<int64_t>(2000, 1));
  TrainState sent = ZeroState(layout), received = ZeroState(layout);
  sent.scalars = LongestScalars(layout);
  received.scalars = FirstScalars(layout);
  auto ranks = comm::MakeInProcess(2, 1, {.progress_seconds = 60});
  const auto run = [&](int rank) {
    device::ExchangeMaker exchanges(TestHost(), {});
    const auto exchange = *exchanges.Make(*ranks[rank], device::Transport::kHost);
    const absl::Status status = rank == 0 ? SendState(*exchange, 1, sent, sent.moments)
                                          : ReceiveState(*exchange, 0, layout, received.moments, received);
    EXPECT_TRUE(status.ok()) << status;
  };
  std::vector<std::jthread> threads;
  for (const int rank : {0, 1}) threads.emplace_back(run, rank);
  threads.clear();
  EXPECT_EQ(received.scalars.missed, sent.scalars.missed);
  EXPECT_EQ(received.scalars.levers, sent.scalars.levers);
}

}  // namespace
}  // namespace rekindle::train
