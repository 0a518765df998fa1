// Tests what happens to an exchange by NCCL when NCCL fails, a rank dies, freezes or hangs, or its device does. Every
// rank ends, the right one is accused, and what a rank has computed stays whole.
#include "worker/device/exchange/nccl_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "worker/comm/nccl/fake_nccl.h"
#include "worker/comm/testing/fake_nccl_calls.h"
#include "worker/comm/testing/in_process.h"
#include "worker/device/exchange/exchange_maker.h"
#include "worker/device/fake/fake_device.h"

namespace rekindle::device {
namespace {

using Call = comm::FakeNcclCall;
using Fault = comm::FakeNcclFault;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kElements = 1000;
constexpr int64_t kBytes = kElements * 4;
constexpr int kEveryRank = -1;

// Holds ranks that exchange the memory of fake devices by the fake NCCL.
class NcclExchangeTest : public testing::Test {
 protected:
  struct Rank {
    std::unique_ptr<FakeDevice> device;
    std::unique_ptr<comm::Communicator> communicator;
    std::unique_ptr<ExchangeMaker> maker;
    Memory in, out;
    std::unique_ptr<Exchange> exchange;
  };

  ~NcclExchangeTest() override { End(); }

  void Start(int world, double progress_seconds) {
    faults_ = std::make_unique<comm::InProcessFaults>();
    auto communicators = comm::MakeInProcess(world, 1, {.connect_seconds = 60, .progress_seconds = progress_seconds},
                                             {.faults = faults_.get()});
    for (int i = 0; i < world; ++i) {
      Rank rank{.device = MakeFakeDevice({.seed = static_cast<uint64_t>(i)})};
      rank.communicator = std::move(communicators[static_cast<size_t>(i)]);
      rank.maker =
          std::make_unique<ExchangeMaker>(*rank.device, NcclParts{.api = &comm::FakeNccl(), .launch_seconds = 3});
      EXPECT_TRUE(rank.maker->Allocate(kBytes).ok());
      rank.in = *rank.device->Allocate(kBytes, "the input");
      rank.out = *rank.device->Allocate(kBytes, "the output");
      ranks_.push_back(std::move(rank));
    }
    // All ranks begin to join before anybody waits.
    for (Rank& rank : ranks_) rank.exchange = *rank.maker->Make(*rank.communicator, Transport::kNccl);
  }
  void End() {
    calls_.Befall({});
    for (Rank& rank : ranks_) rank.communicator->Abort(absl::CancelledError("the test is over"));
    for (Rank& rank : ranks_) rank.exchange.reset();
    ranks_.clear();
    // An abort that hangs is counted each time that it asks whether it may go on.
    if (!abort_hung_) {
      EXPECT_EQ(calls_.Count(Call::kRelease), calls_.Count(Call::kAbort));
    }
  }
  // Lets each rank but `except` reduce ones. Returns each rank's status.
  std::vector<absl::Status> Reduce(int except = kEveryRank) {
    std::vector<absl::Status> ends(ranks_.size());
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      if (static_cast<int>(i) == except) continue;
      threads.emplace_back([&, i] {
        Rank& rank = ranks_[i];
        rank.device->Run(Queue::kCompute,
                         {.name = "fill", .reads = {}, .writes = {rank.in.all()}, .run = [](const Addresses& at) {
                            std::fill_n(at.Write<float>(0), kElements, 1.0F);
                            return absl::OkStatus();
                          }});
        rank.exchange->AllReduce(rank.in.all(), rank.out.all(), comm::DataType::kFloat32);
        ends[i] = rank.exchange->WaitAll();
      });
    }
    return ends;
  }
  std::vector<float> Values(Rank& rank, const Memory& memory) {
    PinnedMemory seen = *rank.device->AllocatePinned(kBytes, "what the host sees");
    EXPECT_TRUE(RunAndAwait(*rank.device, Queue::kCompute, Copy(memory.all(), seen.all())).ok());
    std::vector<float> values(kElements);
    std::memcpy(values.data(), seen.ForReading(0, kBytes).data(), kBytes);
    return values;
  }
  // Expects that these ranks have ended, and accuse `accused` alone, or nobody if that is negative.
  void ExpectEnded(const std::vector<absl::Status>& ends, const std::vector<int>& who, int accused) {
    for (const int i : who) {
      Rank& rank = ranks_[static_cast<size_t>(i)];
      EXPECT_FALSE(ends[static_cast<size_t>(i)].ok()) << i;
      const auto accusations = rank.communicator->accusations();
      if (accused < 0) {
        EXPECT_THAT(accusations, IsEmpty());
      } else {
        ASSERT_EQ(accusations.size(), 1u) << ends[static_cast<size_t>(i)];
        EXPECT_EQ(accusations[0].rank, accused) << ends[static_cast<size_t>(i)];
      }
      EXPECT_THAT(Values(rank, rank.in), Each(1));
    }
  }

  comm::FakeNcclCalls calls_;
  bool abort_hung_ = false;
  std::unique_ptr<comm::InProcessFaults> faults_;
  std::vector<Rank> ranks_;
};

TEST_F(NcclExchangeTest, AFailureOfEachCallEndsAllRanks) {
  for (const Call call : {Call::kMakeId, Call::kJoin, Call::kPollJoin, Call::kStart, Call::kPoll}) {
    SCOPED_TRACE(static_cast<int>(call));
    const int bad = call == Call::kMakeId ? 0 : 1;
    calls_.Befall(bad, call, Fault::kFail);
    Start(3, 60);
    const std::vector<absl::Status> ends = Reduce();
    EXPECT_EQ(ends[static_cast<size_t>(bad)].code(), absl::StatusCode::kInternal);
    EXPECT_THAT(std::string(ends[static_cast<size_t>(bad)].message()), HasSubstr("injected"));
    // A rank that had come to the end of the operation before another one failed has its result.
    for (size_t i = 0; i < 3; ++i) {
      if (ends[i].ok()) {
        EXPECT_THAT(Values(ranks_[i], ranks_[i].out), Each(3));
      }
      EXPECT_THAT(ranks_[i].communicator->accusations(), IsEmpty());
    }
    End();
  }
}

// On all ranks the join never ends, a collective hangs, or NCCL never says that it has begun the collective. The
// deadline of the join and that of beginning an operation are longer than the communicator's, which is 1 s.
TEST_F(NcclExchangeTest, AHangWithoutACulpritEndsAtTheDeadline) {
  // What a rank hears of another is cut to the length of a message, so these are its first words.
  constexpr char kNobody[] = "every peer answers and has come to";
  const std::pair<Call, std::string> points[] = {{Call::kPollJoin, absl::StrCat("deadline of 10 s missed: ", kNobody)},
                                                 {Call::kStart, absl::StrCat("deadline of 1 s missed: ", kNobody)},
                                                 {Call::kPoll, "NCCL did not begin an operation within 3 s"}};
  for (const auto& [call, words] : points) {
    SCOPED_TRACE(static_cast<int>(call));
    calls_.Befall(kEveryRank, call, Fault::kHang);
    Start(2, 1);
    const std::vector<absl::Status> ends = Reduce();
    ExpectEnded(ends, {0, 1}, -1);
    EXPECT_THAT(std::string(ends[0].message()), HasSubstr(words));
    End();
  }
}

// The host of rank 2 has begun the operation, but its device does not come to it. It is accused, and not one of the
// ranks that wait for it.
TEST_F(NcclExchangeTest, TheRankWhoseDeviceHangsIsAccused) {
  Start(3, 1);
  ASSERT_THAT(Reduce(), Each(absl::OkStatus()));
  ranks_[2].device->Hang(Queue::kCompute);
  const std::vector<absl::Status> ends = Reduce();
  ExpectEnded(ends, {0, 1}, 2);
  EXPECT_THAT(ranks_[0].communicator->accusations()[0].detail + ranks_[1].communicator->accusations()[0].detail,
              HasSubstr("its device has not come to collective #3"));
  EXPECT_FALSE(ends[2].ok());
  EXPECT_THAT(ranks_[2].communicator->accusations(), IsEmpty());
  ranks_[2].device->LoseContext("the test is over");
}

TEST_F(NcclExchangeTest, ARankThatDoesNotComeIsAccused) {
  Start(3, 1);
  ASSERT_THAT(Reduce(), Each(absl::OkStatus()));
  ExpectEnded(Reduce(2), {0, 1}, 2);
}

TEST_F(NcclExchangeTest, AFrozenRankIsAccused) {
  Start(3, 1);
  ASSERT_THAT(Reduce(), Each(absl::OkStatus()));
  faults_->Freeze(2);
  ExpectEnded(Reduce(2), {0, 1}, 2);
  faults_->Thaw(2);
}

// NCCL notices a dead peer too, and at rank 0 at once. The communicator still gets the time to say who it was.
TEST_F(NcclExchangeTest, ADeadRankIsNamedByTheCommunicator) {
  for (const bool nccl_notices : {false, true}) {
    Start(3, 60);
    ASSERT_THAT(Reduce(), Each(absl::OkStatus()));
    const int before = calls_.Count(Call::kStart);
    std::jthread death([&] {
      while (calls_.Count(Call::kStart) < before + 2) std::this_thread::yield();
      if (nccl_notices) calls_.Befall(0, Call::kPoll, Fault::kFail);
      faults_->Kill(2);
    });
    ExpectEnded(Reduce(2), {0, 1}, 2);
    death.join();
    End();
  }
}

TEST_F(NcclExchangeTest, ADeathWhileRanksJoinEndsTheJoin) {
  calls_.Befall(2, Call::kPollJoin, Fault::kHang);
  Start(3, 60);
  faults_->Kill(2);
  ranks_[0].exchange->AllReduce(ranks_[0].in.all(), ranks_[0].out.all(), comm::DataType::kFloat32);
  EXPECT_FALSE(ranks_[0].exchange->WaitAll().ok());
  ASSERT_EQ(ranks_[0].communicator->accusations().size(), 1u);
  EXPECT_EQ(ranks_[0].communicator->accusations()[0].rank, 2);
}

// Rank 1's abort hangs, so rank 1 leaves NCCL and the queue on which its operation is. It goes on over the host, and
// gives its memory back without waiting for that queue. When the operation wakes up, it spoils nothing.
TEST_F(NcclExchangeTest, AnAbortThatHangsIsLeftBehind) {
  abort_hung_ = true;
  Start(2, 1);
  ASSERT_THAT(Reduce(), Each(absl::OkStatus()));
  calls_.Befall([](Call call, int rank) {
    return rank == 1 && (call == Call::kStart || call == Call::kAbort) ? Fault::kHang : Fault::kNone;
  });
  ExpectEnded(Reduce(), {0, 1}, -1);
  EXPECT_FALSE(ranks_[0].maker->HasLeftNccl());
  EXPECT_TRUE(ranks_[1].maker->HasLeftNccl());
  EXPECT_EQ(ranks_[1].maker->Make(*ranks_[1].communicator, Transport::kNccl).status().code(),
            absl::StatusCode::kFailedPrecondition);

  auto communicators = comm::MakeInProcess(2, 2, {.connect_seconds = 60, .progress_seconds = 60}, {});
  for (size_t i = 0; i < 2; ++i) {
    ranks_[i].exchange.reset();
    ranks_[i].communicator = std::move(communicators[i]);
    ranks_[i].exchange = *ranks_[i].maker->Make(*ranks_[i].communicator, Transport::kHost);
  }
  ASSERT_THAT(Reduce(), Each(absl::OkStatus()));
  Rank& left = ranks_[1];
  left.in = {};
  const absl::StatusOr<Memory> again = left.device->Allocate(kBytes, "other memory");
  ASSERT_TRUE(again.ok());
  ASSERT_TRUE(RunAndAwait(*left.device, Queue::kCompute, Zero(again->all())).ok());
  calls_.Befall({});
  while (calls_.Count(Call::kRelease) < 2) std::this_thread::yield();
  EXPECT_THAT(Values(left, left.out), Each(2));
  EXPECT_THAT(Values(left, *again), Each(0));
  EXPECT_THAT(left.device->Reports(), IsEmpty());
}

// What the hosts tell each other does not wait for the devices.
TEST_F(NcclExchangeTest, TheHostsDoNotWaitForNccl) {
  calls_.Befall(kEveryRank, Call::kPollJoin, Fault::kHang);
  Start(2, 60);
  std::vector<std::jthread> threads;
  for (Rank& rank : ranks_) {
    threads.emplace_back([this, &rank] {
      std::vector<int> all(2);
      const int mine = rank.communicator->rank();
      rank.exchange->AllReduce(rank.in.all(), rank.out.all(), comm::DataType::kFloat32);
      EXPECT_TRUE(rank.exchange->Wait(rank.exchange->AllGather(&mine, all.data(), sizeof(mine))).ok());
      EXPECT_THAT(all, testing::ElementsAre(0, 1));
      if (mine == 0) calls_.Befall({});
      EXPECT_TRUE(rank.exchange->WaitAll().ok());
    });
  }
}

// Rank 0 ends in order while rank 1 still joins. That fails nothing at rank 1, which needs NCCL for nothing more.
TEST_F(NcclExchangeTest, AnEndInOrderFailsNoPeer) {
  Start(2, 60);
  ASSERT_THAT(Reduce(), Each(absl::OkStatus()));
  ranks_[0].communicator->Close();
  ranks_[0].exchange.reset();
  calls_.Befall(1, Call::kPoll, Fault::kFail);
  ranks_[1].communicator->Close();
  ranks_[1].exchange.reset();
  EXPECT_TRUE(ranks_[1].communicator->status().ok());
  ranks_.clear();
}

}  // namespace
}  // namespace rekindle::device
