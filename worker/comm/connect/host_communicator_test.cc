// Tests that ranks connect over real sockets, and every operation through shared memory, TCP and a mix of both.
#include "worker/comm/connect/host_communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "common/time/clock.h"
#include "worker/comm/connect/listener.h"
#include "worker/comm/testing/host_test_util.h"

namespace rekindle::comm {
namespace {

enum class Transport { kShared, kTcp, kMixed };

class Host : public testing::TestWithParam<std::tuple<int, Transport>> {
 protected:
  int world() const { return std::get<0>(GetParam()); }
  std::vector<std::unique_ptr<Communicator>> Connect(HostRanks& ranks, int generation) {
    const Transport transport = std::get<1>(GetParam());
    if (transport == Transport::kMixed) {
      for (int rank = 0; rank < world(); ++rank) ranks.peers[rank].host = rank % 3 == 2 ? "other host" : "one host";
    }
    return ranks.Connect(generation, transport != Transport::kTcp);
  }
};

TEST_P(Host, AllOperations) {
  HostRanks hosts(world());
  auto ranks = Connect(hosts, 1);
  ForEach(ranks, [](Communicator& comm) {
    const int world = comm.world_size();
    for (const size_t count : {size_t{0}, size_t{1}, size_t{999}, size_t{200003}}) {
      std::vector<int64_t> in(count), out(count), gathered(count * world), passed(count, comm.rank());
      std::iota(in.begin(), in.end(), comm.rank());
      const size_t bytes = count * 8;
      std::vector<Work> works;
      works.push_back(comm.AllReduce(in.data(), out.data(), count, DataType::kInt64, ReduceOp::kSum));
      works.push_back(comm.AllGather(in.data(), gathered.data(), bytes));
      if (world > 1 && comm.rank() == 0) works.push_back(comm.Send(in.data(), bytes, world - 1));
      if (world > 1 && comm.rank() == world - 1) works.push_back(comm.Recv(passed.data(), bytes, 0));
      works.push_back(comm.Broadcast(passed.data(), bytes, world - 1));
      for (const Work& work : works) ASSERT_TRUE(work.Wait().ok()) << work.Wait();
      std::vector<int64_t> sum(count), all;
      for (size_t i = 0; i < count; ++i) sum[i] = static_cast<int64_t>(i) * world + world * (world - 1) / 2;
      for (int rank = 0; rank < world; ++rank) {
        std::iota(in.begin(), in.end(), rank);
        all.insert(all.end(), in.begin(), in.end());
      }
      // The last rank broadcasts the values that rank 0 sent it.
      std::iota(in.begin(), in.end(), 0);
      EXPECT_TRUE(out == sum) << count;
      EXPECT_TRUE(gathered == all) << count;
      EXPECT_TRUE(passed == (world > 1 ? in : std::vector<int64_t>(count, 0))) << count;
    }
    comm.Close();
  });
  for (auto& rank : ranks) EXPECT_TRUE(rank->status().ok()) << rank->status();
}

TEST_P(Host, GenerationsFollowEachOtherOnTheSameListeners) {
  HostRanks hosts(world());
  for (int generation = 1; generation <= 3; ++generation) {
    auto ranks = Connect(hosts, generation);
    ForEach(ranks, [&](Communicator& comm) {
      EXPECT_EQ(comm.generation(), generation);
      float one = 1, sum = 0;
      const Work work = comm.AllReduce(&one, &sum, 1, DataType::kFloat32, ReduceOp::kSum);
      // Abort() ends the communicator for all ranks, whatever they are doing.
      if (generation == 2) {
        comm.Abort(absl::CancelledError("a new membership"));
        (void)work.Wait();
        return;
      }
      ASSERT_TRUE(work.Wait().ok()) << work.Wait();
      EXPECT_EQ(sum, comm.world_size());
      comm.Close();
    });
  }
}

std::string Name(const testing::TestParamInfo<std::tuple<int, Transport>>& info) {
  const char* const names[] = {"Shared", "Tcp", "Mixed"};
  return std::to_string(std::get<0>(info.param)) + names[static_cast<int>(std::get<1>(info.param))];
}
INSTANTIATE_TEST_SUITE_P(Worlds, Host,
                         testing::Combine(testing::Range(1, 6),
                                          testing::Values(Transport::kShared, Transport::kTcp, Transport::kMixed)),
                         Name);

TEST(HostConnect, WaitsForALatePeer) {
  HostRanks hosts(2);
  std::unique_ptr<Listener> late = std::move(hosts.listeners[0]);
  const std::string address = hosts.peers[0].address;
  // The address of rank 0 refuses connections until a listener is back on the same port.
  late.reset();
  std::atomic<bool> asked = false;
  std::jthread first([&] {
    auto comm = ConnectHost(
        *hosts.listeners[1], hosts.Options(1, 1, true), [&] { return asked = true, false; }, nullptr);
    EXPECT_TRUE(comm.ok()) << comm.status();
  });
  while (!asked) std::this_thread::yield();
  hosts.listeners[0] = *Listener::Create(address, kSecret);
  auto comm = ConnectHost(*hosts.listeners[0], hosts.Options(0, 1, true), nullptr, nullptr);
  EXPECT_TRUE(comm.ok()) << comm.status();
}

TEST(HostConnect, NamesWhoCouldNotBeReached) {
  HostRanks hosts(3);
  hosts.listeners[1].reset();
  std::vector<std::jthread> threads;
  for (const int rank : {0, 2}) {
    threads.emplace_back([&, rank] {
      HostOptions options = hosts.Options(rank, 1, true);
      options.deadlines.connect_seconds = 0.3;
      std::vector<Accusation> accused;
      auto comm = ConnectHost(*hosts.listeners[rank], options, nullptr, &accused);
      EXPECT_FALSE(comm.ok());
      ASSERT_EQ(accused.size(), 1u) << comm.status();
      EXPECT_EQ(accused[0].rank, 1);
      EXPECT_EQ(accused[0].kind, Accusation::Kind::kUnreachable);
    });
  }
}

TEST(HostConnect, CanBeCancelled) {
  HostRanks hosts(2);
  std::vector<Accusation> accused;
  const double start = common::SteadySeconds();
  auto comm = ConnectHost(
      *hosts.listeners[0], hosts.Options(0, 1, true), [&] { return common::SteadySeconds() > start + 0.05; }, &accused);
  EXPECT_TRUE(absl::IsCancelled(comm.status())) << comm.status();
  EXPECT_TRUE(accused.empty());
  EXPECT_LT(common::SteadySeconds() - start, 2);
}

TEST(HostConnect, RefusesImpossibleRanks) {
  HostRanks hosts(2);
  EXPECT_TRUE(
      absl::IsInvalidArgument(ConnectHost(*hosts.listeners[0], hosts.Options(2, 1, true), nullptr, nullptr).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ConnectHost(*hosts.listeners[0], {}, nullptr, nullptr).status()));
}

TEST(Listener, NamesAnAddressInUse) {
  auto first = *Listener::Create("127.0.0.1:0", kSecret);
  const std::string address = absl::StrCat("127.0.0.1:", first->port());
  const absl::Status second = Listener::Create(address, kSecret).status();
  EXPECT_TRUE(absl::IsUnavailable(second));
  EXPECT_THAT(std::string(second.message()), testing::HasSubstr(address));
  EXPECT_TRUE(absl::IsInvalidArgument(Listener::Create("nonsense", kSecret).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Listener::Create("127.0.0.1:0", "").status()));
}

TEST(HostIdentity, IsStable) { EXPECT_EQ(HostIdentity(), HostIdentity()); }

}  // namespace
}  // namespace rekindle::comm
