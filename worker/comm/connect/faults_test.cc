// Tests what happens to the other ranks when one rank dies, freezes, aborts or leaves, at every phase of an operation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "worker/comm/testing/in_process.h"

namespace rekindle::comm {
namespace {

// `kCount` floats are too many for a direct exchange, so the all-reduce goes around a ring.
constexpr size_t kCount = 60000;
constexpr size_t kBytes = kCount * 4;

// Holds ranks of one process that all-reduce until something ends them, and records what each rank's on_error received.
class Group {
 public:
  Group(int world, bool sockets, double progress_seconds, bool with_faults = true) : held_up(world), told_(world) {
    InProcessOptions options{.sockets = sockets, .ring_bytes = 64 << 10};
    options.held_up = [this](int rank) { return held_up[rank].load(); };
    if (with_faults) options.faults = &faults;
    options.on_error = [this](int rank, const absl::Status& status, const std::vector<Accusation>& accusations) {
      const common::MutexLock lock(mutex_);
      ++told_[rank].calls;
      told_[rank].status = status;
      told_[rank].accusations = accusations;
      changed_.NotifyAll();
    };
    ranks = MakeInProcess(world, 1, {.progress_seconds = progress_seconds}, options);
  }
  ~Group() {
    for (size_t rank = 0; rank < ranks.size(); ++rank) faults.Thaw(static_cast<int>(rank));
    // The communicators have to end before the members that on_error uses.
    ranks.clear();
  }

  struct Told {
    int calls = 0;
    absl::Status status;
    std::vector<Accusation> accusations;
  };
  Told told(int rank) {
    const common::MutexLock lock(mutex_);
    return told_[rank];
  }
  // Returns true once on_error has been called for all ranks but `except`.
  bool AllTold(int except, double seconds) {
    common::MutexLock lock(mutex_);
    return changed_.WaitFor(lock, std::chrono::duration<double>(seconds), [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      for (size_t rank = 0; rank < told_.size(); ++rank) {
        if (static_cast<int>(rank) != except && told_[rank].calls == 0) return false;
      }
      return true;
    });
  }
  // Lets every rank but `except` issue `operations` all-reduces and wait for them. Returns the status of each rank's
  // last one.
  std::vector<absl::Status> AllReduce(int operations, int except = -1) {
    std::vector<absl::Status> result(ranks.size());
    std::vector<std::jthread> threads;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      if (static_cast<int>(rank) == except) continue;
      threads.emplace_back([this, rank, operations, &result] {
        std::vector<float> data(kCount, 1);
        for (int i = 0; i < operations && result[rank].ok(); ++i) {
          result[rank] =
              ranks[rank]->AllReduce(data.data(), data.data(), kCount, DataType::kFloat32, ReduceOp::kMax).Wait();
        }
      });
    }
    return result;
  }

  InProcessFaults faults;
  // A test says here which ranks have a model that is held up.
  std::vector<std::atomic<bool>> held_up;
  std::vector<std::unique_ptr<Communicator>> ranks;

 private:
  common::Mutex mutex_;
  common::CondVar changed_;
  std::vector<Told> told_ ABSL_GUARDED_BY(mutex_);
};

// Expects that all surviving ranks ended with an error and accuse `victim` and nobody else.
void ExpectAccused(Group& group, int victim, Accusation::Kind kind) {
  for (size_t rank = 0; rank < group.ranks.size(); ++rank) {
    if (static_cast<int>(rank) == victim) continue;
    const auto accusations = group.ranks[rank]->accusations();
    ASSERT_EQ(accusations.size(), 1u) << "rank " << rank << ": " << group.ranks[rank]->status();
    EXPECT_EQ(accusations[0].rank, victim) << accusations[0].detail;
    EXPECT_EQ(accusations[0].kind, kind) << accusations[0].detail;
  }
}

// An all-reduce over three ranks moves 4/3 of `kBytes` in and 4/3 of it out at each rank. What moves beyond that
// belongs to the second all-reduce.
uint64_t MovedBy(int world) { return 4 * kBytes * (world - 1) / world; }
std::vector<uint64_t> Phases(int world) {
  const uint64_t all = MovedBy(world);
  return {1,       64,          100,         all / 8,  all / 4,   3 * all / 8,
          all / 2, 5 * all / 8, 7 * all / 8, all + 64, all + 200, 3 * all / 2};
}

class Faults : public testing::TestWithParam<bool> {
 protected:
  bool sockets() const { return GetParam(); }
};

TEST_P(Faults, DeathAtEveryPhaseIsToldToAll) {
  for (const int world : {2, 3, 4}) {
    for (const uint64_t phase : Phases(world)) {
      SCOPED_TRACE(absl::StrCat("world ", world, ", after ", phase, " bytes"));
      Group group(world, sockets(), 60);
      const int victim = world - 2;
      group.faults.KillAfter(victim, phase);
      const std::vector<absl::Status> ended = group.AllReduce(1000);
      for (int rank = 0; rank < world; ++rank) EXPECT_FALSE(ended[rank].ok());
      ExpectAccused(group, victim, Accusation::Kind::kClosed);
    }
  }
}

TEST_P(Faults, DeathWhileIdleIsToldAtOnce) {
  for (const bool after_an_operation : {false, true}) {
    Group group(3, sockets(), 60);
    if (after_an_operation) {
      for (const absl::Status& status : group.AllReduce(2)) EXPECT_TRUE(status.ok()) << status;
    }
    group.faults.Kill(1);
    ASSERT_TRUE(group.AllTold(1, 5));
    ExpectAccused(group, 1, Accusation::Kind::kClosed);
    EXPECT_EQ(group.told(0).calls, 1);
    // An operation that is issued after the communicator's end gets the status with which the communicator ended.
    float value = 0;
    const Work late = group.ranks[0]->AllReduce(&value, &value, 1, DataType::kFloat32, ReduceOp::kSum);
    EXPECT_EQ(late.Wait(), group.ranks[0]->status());
  }
}

void FreezeAndThaw(int world, bool sockets, uint64_t phase) {
  SCOPED_TRACE(absl::StrCat("world ", world, ", after ", phase, " bytes"));
  constexpr double kDeadline = 0.6;
  Group group(world, sockets, kDeadline);
  group.faults.FreezeAfter(1, phase);
  std::jthread ops([&] { group.AllReduce(1000); });
  ASSERT_TRUE(group.AllTold(1, 30 * kDeadline));
  ExpectAccused(group, 1, Accusation::Kind::kTimeout);
  // When the frozen rank wakes, it finds itself excluded and accuses nobody.
  group.faults.Thaw(1);
  ops.join();
  EXPECT_TRUE(group.ranks[1]->accusations().empty()) << group.ranks[1]->status();
  EXPECT_FALSE(group.ranks[1]->status().ok());
}

TEST_P(Faults, AFrozenRankIsAccusedByAllWithinTheDeadline) {
  std::vector<std::jthread> threads;
  for (const int world : {3, 4}) {
    for (const uint64_t phase : {uint64_t{1}, MovedBy(world) / 4, MovedBy(world) * 3 / 4, MovedBy(world) + 100}) {
      threads.emplace_back(FreezeAndThaw, world, sockets(), phase);
    }
  }
}

TEST_P(Faults, ARankThatDoesNotComeIsAccusedRatherThanTheOneWaitedFor) {
  Group group(4, sockets(), 0.4);
  for (const absl::Status& status : group.AllReduce(1)) ASSERT_TRUE(status.ok()) << status;
  group.AllReduce(1, /*except=*/2);
  ExpectAccused(group, 2, Accusation::Kind::kTimeout);
  EXPECT_THAT(group.ranks[0]->accusations()[0].detail, testing::HasSubstr("has not issued"));
}

TEST_P(Faults, ARankWhoseModelIsHeldUpIsWaitedFor) {
  constexpr double kDeadline = 0.4;
  Group group(4, sockets(), kDeadline);
  for (const absl::Status& status : group.AllReduce(1)) ASSERT_TRUE(status.ok()) << status;
  group.held_up[2] = true;
  std::vector<absl::Status> ended;
  std::jthread others([&] { ended = group.AllReduce(1, /*except=*/2); });
  // The others would have ended after one deadline.
  EXPECT_FALSE(group.AllTold(2, 4 * kDeadline));
  for (const int rank : {0, 1, 3}) EXPECT_EQ(group.told(rank).calls, 0);
  std::vector<float> data(kCount, 1);
  const Work late = group.ranks[2]->AllReduce(data.data(), data.data(), kCount, DataType::kFloat32, ReduceOp::kMax);
  EXPECT_TRUE(late.Wait().ok()) << late.Wait();
  others.join();
  for (const absl::Status& status : ended) EXPECT_TRUE(status.ok()) << status;
  // Once it is held up no more, it has one deadline, and is accused then.
  group.held_up[2] = false;
  group.AllReduce(1, /*except=*/2);
  ExpectAccused(group, 2, Accusation::Kind::kTimeout);
}

TEST_P(Faults, AFrozenRankIsAccusedAlthoughItsModelIsHeldUp) {
  Group group(3, sockets(), 0.4);
  for (const absl::Status& status : group.AllReduce(1)) ASSERT_TRUE(status.ok()) << status;
  group.held_up[1] = true;
  group.faults.Freeze(1);
  group.AllReduce(1, /*except=*/1);
  ExpectAccused(group, 1, Accusation::Kind::kTimeout);
}

TEST_P(Faults, ASlowRankIsNotAccused) {
  Group group(3, sockets(), 0.3);
  // The all-reduce takes longer than the deadline for progress, but bytes keep moving.
  group.faults.Slow(1, kBytes / 4, 0.05);
  const double start = common::SteadySeconds();
  for (const absl::Status& status : group.AllReduce(1)) EXPECT_TRUE(status.ok()) << status;
  EXPECT_GT(common::SteadySeconds() - start, 0.3);
}

TEST_P(Faults, DeadlinesCanBeChangedWhileAnOperationIsPending) {
  Group group(2, sockets(), 1000);
  std::jthread op([&] { EXPECT_TRUE(absl::IsDeadlineExceeded(group.AllReduce(1, 1)[0])); });
  group.ranks[0]->SetDeadlines({.progress_seconds = 0.1});
  op.join();
  ExpectAccused(group, 1, Accusation::Kind::kTimeout);
}

TEST_P(Faults, AbortAtEveryPhaseEndsAllAndAccusesNobody) {
  for (const uint64_t phase : Phases(3)) {
    SCOPED_TRACE(phase);
    Group group(3, sockets(), 60);
    group.faults.CallAfter(1, phase, [&] { group.ranks[1]->Abort(absl::CancelledError("a new membership")); });
    const std::vector<absl::Status> ended = group.AllReduce(1000);
    EXPECT_TRUE(absl::IsCancelled(ended[1])) << ended[1];
    EXPECT_TRUE(group.AllTold(1, 10));
    EXPECT_EQ(group.told(1).calls, 0);
    for (const int rank : {0, 2}) {
      EXPECT_TRUE(absl::IsAborted(ended[rank])) << ended[rank];
      EXPECT_THAT(std::string(ended[rank].message()), testing::HasSubstr("a new membership"));
      EXPECT_TRUE(group.ranks[rank]->accusations().empty());
      EXPECT_EQ(group.told(rank).calls, 1);
    }
  }
}

TEST_P(Faults, AbortFromAnotherThreadEndsWhatWaits) {
  Group group(3, sockets(), 60);
  float value = 0;
  const Work work = group.ranks[0]->AllReduce(&value, &value, 1, DataType::kFloat32, ReduceOp::kSum);
  const Work queued = group.ranks[0]->Recv(&value, 4, 1);
  std::jthread other([&] { group.ranks[0]->Abort(absl::CancelledError("enough")); });
  EXPECT_TRUE(absl::IsCancelled(work.Wait())) << work.Wait();
  EXPECT_TRUE(absl::IsCancelled(queued.Wait())) << queued.Wait();
  EXPECT_TRUE(group.ranks[0]->accusations().empty());
}

TEST_P(Faults, LeavingInGoodOrderIsNoError) {
  Group group(3, sockets(), 60, false);
  for (const absl::Status& status : group.AllReduce(3)) ASSERT_TRUE(status.ok()) << status;
  group.ranks[1]->Close();
  group.ranks[1]->Close();
  // After rank 1 has left, the other two ranks can still exchange data.
  int64_t sent = 5, received = 0;
  const Work send = group.ranks[0]->Send(&sent, 8, 2);
  const Work receive = group.ranks[2]->Recv(&received, 8, 0);
  EXPECT_TRUE(send.Wait().ok()) << send.Wait();
  EXPECT_TRUE(receive.Wait().ok()) << receive.Wait();
  EXPECT_EQ(received, 5);
  group.ranks[1].reset();
  EXPECT_TRUE(group.ranks[0]->status().ok()) << group.ranks[0]->status();
  // Rank 1 has left, so an operation that needs data from it fails.
  const Work lost = group.ranks[0]->Recv(&received, 8, 1);
  EXPECT_TRUE(absl::IsUnavailable(lost.Wait())) << lost.Wait();
  ASSERT_EQ(group.ranks[0]->accusations().size(), 1u);
  EXPECT_EQ(group.ranks[0]->accusations()[0].rank, 1);
}

TEST_P(Faults, AClosedCommunicatorRefusesOperations) {
  Group group(2, sockets(), 60, false);
  group.ranks[0]->Close();
  float value = 0;
  const Work work = group.ranks[0]->AllReduce(&value, &value, 1, DataType::kFloat32, ReduceOp::kSum);
  EXPECT_TRUE(absl::IsFailedPrecondition(work.Wait())) << work.Wait();
  EXPECT_TRUE(group.ranks[0]->status().ok());
}

TEST_P(Faults, RanksThatDisagreeFindOut) {
  for (const size_t count : {size_t{10}, kCount}) {
    Group group(2, sockets(), 60, false);
    std::vector<float> a(kCount), b(kCount);
    const Work first = group.ranks[0]->AllReduce(a.data(), a.data(), count, DataType::kFloat32, ReduceOp::kSum);
    const Work second = group.ranks[1]->AllReduce(b.data(), b.data(), count, DataType::kFloat32, ReduceOp::kMax);
    EXPECT_FALSE(first.Wait().ok());
    EXPECT_FALSE(second.Wait().ok());
    EXPECT_THAT(absl::StrCat(std::string(first.Wait().message()), std::string(second.Wait().message())),
                testing::HasSubstr("where this rank issued"));
  }
}

TEST_P(Faults, BadArgumentsAreRefusedAndChangeNothing) {
  Group group(2, sockets(), 60, false);
  char byte = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(group.ranks[0]->Send(&byte, 1, 0).Wait()));
  EXPECT_TRUE(absl::IsInvalidArgument(group.ranks[0]->Recv(&byte, 1, 2).Wait()));
  EXPECT_TRUE(absl::IsInvalidArgument(group.ranks[0]->Broadcast(&byte, 1, -1).Wait()));
  for (const absl::Status& status : group.AllReduce(1)) EXPECT_TRUE(status.ok()) << status;
}

TEST_P(Faults, DestructionWithOperationsPendingEndsThem) {
  Group group(3, sockets(), 60, false);
  std::vector<float> data(kCount);
  std::vector<Work> works;
  for (int i = 0; i < 10; ++i) {
    works.push_back(group.ranks[0]->AllReduce(data.data(), data.data(), kCount, DataType::kFloat32, ReduceOp::kSum));
  }
  group.ranks[0].reset();
  for (const Work& work : works) EXPECT_FALSE(work.Wait().ok());
}

// Issues random operations with a random fault at a random moment. All ranks must end, the operations that succeed must
// have the right values, and the survivors must accuse nobody but the victim.
TEST_P(Faults, Stress) {
  const char* given = std::getenv("REKINDLE_TEST_SEED");
  const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("REKINDLE_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 30; ++round) {
    const int world = 2 + static_cast<int>(random() % 4);
    const int victim = static_cast<int>(random() % world);
    const uint64_t plan = random();
    SCOPED_TRACE(absl::StrCat("seed ", seed, " round ", round, ": world ", world, ", victim ", victim));
    Group group(world, sockets(), 60);
    const uint64_t moment = random() % 3'000'000;
    const int fault = static_cast<int>(random() % 3);
    if (fault == 0) group.faults.KillAfter(victim, moment);
    if (fault == 1) {
      group.faults.CallAfter(victim, moment, [&] { group.ranks[victim]->Abort(absl::CancelledError("stress")); });
    }
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < world; ++rank) {
      threads.emplace_back([&, rank] {
        std::mt19937_64 operations(plan);
        Communicator& comm = *group.ranks[rank];
        for (int i = 0; i < 25; ++i) {
          const size_t count = operations() % 3 == 0 ? operations() % 100000 : operations() % 2000;
          const int root = static_cast<int>(operations() % world);
          const bool broadcast = operations() % 4 == 0;
          std::vector<int64_t> data(count, rank);
          const Work work = broadcast
                                ? comm.Broadcast(data.data(), count * 8, root)
                                : comm.AllReduce(data.data(), data.data(), count, DataType::kInt64, ReduceOp::kSum);
          if (!work.Wait().ok()) return;
          const int64_t expected = broadcast ? root : world * (world - 1) / 2;
          for (const int64_t value : data) ASSERT_EQ(value, expected);
        }
        comm.Close();
      });
    }
    threads.clear();
    for (int rank = 0; rank < world; ++rank) {
      if (fault == 2) {
        EXPECT_TRUE(group.ranks[rank]->status().ok()) << group.ranks[rank]->status();
      }
      if (rank == victim) continue;
      for (const Accusation& a : group.ranks[rank]->accusations()) EXPECT_EQ(a.rank, victim) << a.detail;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Links, Faults, testing::Bool(),
                         [](const auto& info) { return info.param ? "Sockets" : "Memory"; });

}  // namespace
}  // namespace rekindle::comm
