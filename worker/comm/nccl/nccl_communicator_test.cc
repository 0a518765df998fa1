// Tests the communicator for device memory over a fake NCCL: its results, and that every rank ends when NCCL fails, a
// peer fails, or one of them does not answer in time.
#include "worker/comm/nccl/nccl_communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "worker/comm/connect/ring_communicator.h"
#include "worker/comm/testing/host_test_util.h"
#include "worker/comm/testing/in_process.h"
#include "worker/comm/testing/nccl_fake.h"

namespace rekindle::comm {
namespace {

using Call = FakeNccl::Call;
using Fault = FakeNccl::Fault;
using testing::HasSubstr;
using testing::IsEmpty;

// Holds ranks of one process that join a fake NCCL.
struct Group {
  explicit Group(int world, Deadlines deadlines = {.connect_seconds = 20, .progress_seconds = 20})
      : deadlines(deadlines) {
    for (auto& rank : MakeInProcess(world, 3, deadlines, {.faults = &faults})) {
      // The cast is safe, because MakeInProcess() makes only RingCommunicators.
      hosts.emplace_back(static_cast<RingCommunicator*>(rank.release()));
    }
    ranks.resize(hosts.size());
    joined.resize(hosts.size());
    accused.resize(hosts.size());
  }
  ~Group() {
    for (size_t rank = 0; rank < ranks.size(); ++rank) faults.Thaw(static_cast<int>(rank));
  }
  void Join(int except = -1, const std::function<bool()>& cancelled = nullptr) {
    Each(
        [&](int rank) {
          auto made = JoinNccl(std::move(hosts[rank]), deadlines, {.api = &nccl.api(), .device = rank}, cancelled,
                               &accused[rank]);
          joined[rank] = made.status();
          if (made.ok()) ranks[rank] = *std::move(made);
        },
        except);
  }
  void Each(const std::function<void(int)>& body, int except = -1) const {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
      if (rank != except) threads.emplace_back([&body, rank] { body(rank); });
    }
  }
  // Lets each rank but `except` all-reduce `count` ones on the device, and checks the sums. Returns each rank's status.
  std::vector<absl::Status> AllReduce(size_t count, int except = -1) {
    std::vector<absl::Status> result(ranks.size());
    Each(
        [&](int rank) {
          std::vector<float> in(count, 1), out(count);
          result[rank] =
              ranks[rank]->AllReduce(in.data(), out.data(), count, DataType::kFloat32, ReduceOp::kSum, &nccl).Wait();
          if (!result[rank].ok()) return;
          EXPECT_EQ(std::accumulate(out.begin(), out.end(), 0.0), static_cast<double>(count * ranks.size()));
        },
        except);
    return result;
  }
  // Expects that every NCCL communicator was aborted, and that none was used after its end.
  void ExpectAllAborted() {
    ranks.clear();
    EXPECT_EQ(nccl.aborted(), nccl.made());
    EXPECT_EQ(nccl.misused(), 0);
  }

  const Deadlines deadlines;
  InProcessFaults faults;
  FakeNccl nccl;
  std::vector<std::unique_ptr<RingCommunicator>> hosts;
  std::vector<std::unique_ptr<Communicator>> ranks;
  std::vector<absl::Status> joined;
  std::vector<std::vector<Accusation>> accused;
};

TEST(NcclCommunicator, EveryOperationOnTheDeviceAndOnTheHost) {
  Group group(3);
  group.Join();
  for (const absl::Status& status : group.joined) ASSERT_TRUE(status.ok()) << status;
  for (const absl::Status& status : group.AllReduce(1000)) EXPECT_TRUE(status.ok()) << status;
  group.Each([&](int rank) {
    Communicator& comm = *group.ranks[rank];
    for (Stream stream : {static_cast<Stream>(nullptr), static_cast<Stream>(&group)}) {
      uint8_t mine = static_cast<uint8_t>(rank + 1), all[3] = {}, root = static_cast<uint8_t>(rank == 1 ? 77 : 0);
      EXPECT_TRUE(comm.AllGather(&mine, all, 1, stream).Wait().ok());
      EXPECT_THAT(all, testing::ElementsAre(1, 2, 3));
      EXPECT_TRUE(comm.Broadcast(&root, 1, 1, stream).Wait().ok());
      EXPECT_EQ(root, 77);
      // Rank 0 sends a letter to rank 2. Rank 1 takes no part.
      uint8_t letter = rank == 0 ? 9 : 0;
      const Work moved = rank == 0   ? comm.Send(&letter, 1, 2, stream)
                         : rank == 2 ? comm.Recv(&letter, 1, 0, stream)
                                     : Work();
      EXPECT_TRUE(moved.Wait().ok());
      EXPECT_EQ(letter, rank == 1 ? 0 : 9);
    }
    EXPECT_EQ(comm.Broadcast(&comm, 1, 3, &group).Wait().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(comm.Send(&comm, 1, rank, &group).Wait().code(), absl::StatusCode::kInvalidArgument);
  });
  EXPECT_EQ(group.nccl.started(), 3 + 3 * 2 + 2);
  for (auto& rank : group.ranks) rank->Close();
  EXPECT_TRUE(group.ranks[0]->status().ok());
  group.ExpectAllAborted();
}

TEST(NcclCommunicator, LargeOperationsGoInPieces) {
  constexpr size_t kBytes = (64 << 20) + 5;
  Group group(2);
  group.Join();
  group.Each([&](int rank) {
    std::vector<uint8_t> bytes(kBytes, static_cast<uint8_t>(rank));
    EXPECT_TRUE(group.ranks[rank]->Broadcast(bytes.data(), kBytes, 1, &group).Wait().ok());
    EXPECT_EQ(bytes.front() + bytes[kBytes - 6] + bytes.back(), 3);
  });
  EXPECT_EQ(group.nccl.started(), 2 * 2);
}

// Whichever call of NCCL fails on one rank, all ranks end with the reason, nobody is accused, and every communicator is
// freed.
TEST(NcclCommunicator, FailureOfEachCallEndsAllRanks) {
  for (const Call call :
       {Call::kMakeId, Call::kJoin, Call::kPollJoin, Call::kStart, Call::kPollStart, Call::kMark, Call::kMarked}) {
    SCOPED_TRACE(static_cast<int>(call));
    Group group(3);
    const int bad = call == Call::kMakeId ? 0 : 1;
    group.nccl.Befall(bad, call, Fault::kFail);
    group.Join();
    const bool while_joining = call == Call::kMakeId || call == Call::kJoin || call == Call::kPollJoin;
    std::vector<absl::Status> ends = group.joined;
    if (!while_joining) {
      for (const absl::Status& status : group.joined) ASSERT_TRUE(status.ok()) << status;
      ends = group.AllReduce(100);
    }
    EXPECT_EQ(ends[bad].code(), absl::StatusCode::kInternal) << ends[bad];
    EXPECT_THAT(std::string(ends[bad].message()), HasSubstr("injected"));
    for (int rank = 0; rank < 3; ++rank) {
      // A rank that completed its operation before another failed learns of the failure with the next operation.
      uint8_t byte = 0;
      if (ends[rank].ok()) ends[rank] = group.ranks[rank]->Broadcast(&byte, 1, bad).Wait();
      EXPECT_FALSE(ends[rank].ok()) << rank;
      EXPECT_THAT(group.accused[rank], IsEmpty());
    }
    group.ExpectAllAborted();
  }
}

TEST(NcclCommunicator, HangWithoutAGuiltyPeerEndsAtTheDeadline) {
  for (const Call call : {Call::kPollJoin, Call::kPollStart, Call::kMarked}) {
    SCOPED_TRACE(static_cast<int>(call));
    Group group(2, {.connect_seconds = 1, .progress_seconds = 1});
    for (int rank : {0, 1}) group.nccl.Befall(rank, call, Fault::kHang);
    group.Join();
    const std::vector<absl::Status> ends = call == Call::kPollJoin ? group.joined : group.AllReduce(100);
    // NCCL hangs on both ranks. One of them notices the missed deadline first and notifies the other, so both messages
    // name the deadline.
    for (const absl::Status& status : ends) EXPECT_THAT(std::string(status.message()), HasSubstr("deadline")) << status;
    EXPECT_TRUE(absl::IsDeadlineExceeded(ends[0]) || absl::IsDeadlineExceeded(ends[1]));
    for (int rank : {0, 1}) {
      EXPECT_THAT(group.accused[rank], IsEmpty());
      if (group.ranks[rank] == nullptr) continue;
      EXPECT_THAT(group.ranks[rank]->accusations(), IsEmpty());
    }
    group.ExpectAllAborted();
  }
}

TEST(NcclCommunicator, RankThatDoesNotComeIsAccused) {
  Group group(3, {.connect_seconds = 20, .progress_seconds = 1});
  group.Join();
  const std::vector<absl::Status> ends = group.AllReduce(100, 2);
  for (int rank : {0, 1}) {
    EXPECT_FALSE(ends[rank].ok());
    ASSERT_EQ(group.ranks[rank]->accusations().size(), 1u);
    EXPECT_EQ(group.ranks[rank]->accusations()[0].rank, 2);
    EXPECT_EQ(group.ranks[rank]->accusations()[0].kind, Accusation::Kind::kTimeout);
  }
  group.ExpectAllAborted();
}

TEST(NcclCommunicator, FrozenRankIsAccused) {
  Group group(3, {.connect_seconds = 20, .progress_seconds = 1});
  group.Join();
  group.nccl.Befall(2, Call::kMarked, Fault::kHang);
  group.nccl.Befall(0, Call::kMarked, Fault::kHang);
  group.nccl.Befall(1, Call::kMarked, Fault::kHang);
  group.faults.Freeze(2);
  const std::vector<absl::Status> ends = group.AllReduce(100, 2);
  for (int rank : {0, 1}) {
    EXPECT_FALSE(ends[rank].ok());
    ASSERT_EQ(group.ranks[rank]->accusations().size(), 1u);
    EXPECT_EQ(group.ranks[rank]->accusations()[0].rank, 2);
  }
  group.faults.Thaw(2);
  group.ExpectAllAborted();
}

// NCCL notices a dead peer too, and often first. The control channel still gets the time to report which rank died.
TEST(NcclCommunicator, DeadRankIsNamedByTheControlChannel) {
  for (const bool nccl_notices : {false, true}) {
    Group group(3);
    group.Join();
    for (int rank : {0, 1}) group.nccl.Befall(rank, Call::kMarked, Fault::kHang);
    std::jthread death([&] {
      while (group.nccl.started() < 2) std::this_thread::yield();
      for (int rank : {0, 1}) {
        if (nccl_notices) group.nccl.Befall(rank, Call::kPollMarked, Fault::kFail);
      }
      group.faults.Kill(2);
    });
    const std::vector<absl::Status> ends = group.AllReduce(100, 2);
    for (int rank : {0, 1}) {
      EXPECT_FALSE(ends[rank].ok());
      ASSERT_EQ(group.ranks[rank]->accusations().size(), 1u) << ends[rank];
      EXPECT_EQ(group.ranks[rank]->accusations()[0].rank, 2);
      EXPECT_EQ(group.ranks[rank]->accusations()[0].kind, Accusation::Kind::kClosed);
    }
    death.join();
    group.ExpectAllAborted();
  }
}

TEST(NcclCommunicator, DeathWhileJoining) {
  Group group(3);
  std::jthread death([&] {
    while (group.nccl.made() < 2) std::this_thread::yield();
    group.faults.Kill(2);
  });
  // Rank 2 takes the NCCL id and never joins.
  std::vector<unsigned char> id(256);
  std::jthread dying([&] { group.hosts[2]->Broadcast(id.data(), id.size(), 0, nullptr).Wait().IgnoreError(); });
  group.Join(2);
  for (int rank : {0, 1}) {
    EXPECT_FALSE(group.joined[rank].ok());
    ASSERT_EQ(group.accused[rank].size(), 1u) << group.joined[rank];
    EXPECT_EQ(group.accused[rank][0].rank, 2);
  }
  death.join();
  dying.join();
  group.ExpectAllAborted();
}

TEST(NcclCommunicator, CancelledWhileJoining) {
  Group group(2);
  for (int rank : {0, 1}) group.nccl.Befall(rank, Call::kPollJoin, Fault::kHang);
  std::atomic<int> asked = 0;
  group.Join(-1, [&] { return ++asked > 50; });
  int cancelled = 0;
  for (const absl::Status& status : group.joined) {
    EXPECT_FALSE(status.ok());
    cancelled += absl::IsCancelled(status);
  }
  EXPECT_GE(cancelled, 1);
  group.ExpectAllAborted();
}

TEST(NcclCommunicator, AbortEndsAnOperationUnderWay) {
  Group group(2);
  group.Join();
  for (int rank : {0, 1}) group.nccl.Befall(rank, Call::kMarked, Fault::kHang);
  std::jthread stop([&] {
    while (group.nccl.started() < 2) std::this_thread::yield();
    group.ranks[0]->Abort(absl::CancelledError("enough"));
  });
  const std::vector<absl::Status> ends = group.AllReduce(10);
  EXPECT_TRUE(absl::IsCancelled(ends[0])) << ends[0];
  EXPECT_TRUE(absl::IsAborted(ends[1])) << ends[1];
  stop.join();
  group.ExpectAllAborted();
}

// Over real connections, an error before ConnectNccl returns is its result, and a later error goes to on_error.
TEST(NcclCommunicator, ConnectsOverTheHostTransport) {
  for (const bool fails : {false, true}) {
    HostRanks hosts(2);
    FakeNccl nccl;
    if (fails) nccl.Befall(1, Call::kJoin, Fault::kFail);
    std::atomic<int> told = 0;
    std::vector<std::unique_ptr<Communicator>> ranks(2);
    std::vector<absl::Status> ends(2);
    {
      std::vector<std::jthread> threads;
      for (int rank : {0, 1}) {
        threads.emplace_back([&, rank] {
          HostOptions options = hosts.Options(rank, 1, true);
          options.on_error = [&](const absl::Status&, const std::vector<Accusation>&) { ++told; };
          auto made = ConnectNccl(*hosts.listeners[rank], std::move(options), {.api = &nccl.api()}, nullptr, nullptr);
          ends[rank] = made.status();
          if (made.ok()) ranks[rank] = *std::move(made);
        });
      }
    }
    EXPECT_EQ(ends[1].ok(), !fails) << ends[1];
    EXPECT_EQ(told, 0);
    if (fails) continue;
    ASSERT_TRUE(ends[0].ok()) << ends[0];
    // The communicator of rank 1 is destroyed, which closes its connections.
    ranks[1].reset();
    uint8_t byte = 0;
    EXPECT_FALSE(ranks[0]->Broadcast(&byte, 1, 0, &nccl).Wait().ok());
    ranks.clear();
    EXPECT_EQ(told, 1);
    EXPECT_EQ(nccl.misused(), 0);
  }
}

TEST(NcclCommunicator, PluginWithoutNcclIsTold) {
  HostRanks hosts(1);
  const auto made = ConnectNccl(*hosts.listeners[0], hosts.Options(0, 1, true), {}, nullptr, nullptr);
  EXPECT_TRUE(absl::IsFailedPrecondition(made.status()));
}

}  // namespace
}  // namespace rekindle::comm
