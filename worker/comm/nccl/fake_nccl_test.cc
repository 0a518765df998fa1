// Tests the NCCL of machines without a GPU between threads: its results, and that it is as unkind as NCCL.
#include "worker/comm/nccl/fake_nccl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "worker/comm/contract/communicator.h"
#include "worker/comm/testing/fake_nccl_calls.h"

namespace rekindle::comm {
namespace {

using testing::ElementsAre;

class FakeNcclTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(api_.make_id(id_.data(), error_, sizeof(error_)), kRekindleNcclDone) << error_; }
  // Joins as a rank, and returns once NCCL has connected all ranks or failed.
  RekindleNcclComm* Join(int rank, int world) {
    char error[256] = "";
    RekindleNcclComm* comm = nullptr;
    int result = api_.join(0, world, rank, id_.data(), &comm, error, sizeof(error));
    EXPECT_EQ(result, kRekindleNcclPending) << error;
    while (result == kRekindleNcclPending) {
      std::this_thread::yield();
      result = api_.poll(comm, error, sizeof(error));
    }
    EXPECT_EQ(result, kRekindleNcclDone) << error;
    return comm;
  }
  // Joins `world` ranks, and runs `body` on a thread for each.
  template <typename Body>
  void WithRanks(int world, const Body& body) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < world; ++rank) {
      threads.emplace_back([&, rank] { body(rank, Join(rank, world)); });
    }
  }
  int Start(RekindleNcclComm* comm, const RekindleNcclOperation& operation) const {
    char error[256] = "";
    return api_.start(comm, &operation, error, sizeof(error));
  }
  void End(RekindleNcclComm* comm) const {
    api_.abort(comm);
    api_.release(comm);
  }
  static RekindleNcclOperation Sum(const std::vector<float>& in, std::vector<float>& out) {
    return {.kind = RekindleNcclOperation::kAllReduce,
            .type = static_cast<uint32_t>(DataType::kFloat32),
            .op = static_cast<uint32_t>(ReduceOp::kSum),
            .in = in.data(),
            .out = out.data(),
            .count = in.size()};
  }

  FakeNcclCalls calls_;
  const RekindleNcclApi& api_ = FakeNccl();
  std::array<unsigned char, kRekindleNcclIdBytes> id_ = {};
  char error_[256] = "";
};

TEST_F(FakeNcclTest, EveryOperation) {
  WithRanks(3, [&](int rank, RekindleNcclComm* comm) {
    const std::vector<float> in(1000, static_cast<float>(rank + 1));
    std::vector<float> out(1000);
    EXPECT_EQ(Start(comm, Sum(in, out)), kRekindleNcclDone);
    EXPECT_THAT(out, testing::Each(6));
    uint8_t mine = static_cast<uint8_t>(rank + 1), all[3] = {}, root = rank == 1 ? 77 : 0;
    EXPECT_EQ(Start(comm, {.kind = RekindleNcclOperation::kAllGather, .in = &mine, .out = all, .count = 1}), 0);
    EXPECT_THAT(all, ElementsAre(1, 2, 3));
    EXPECT_EQ(
        Start(comm, {.kind = RekindleNcclOperation::kBroadcast, .peer = 1, .in = &root, .out = &root, .count = 1}), 0);
    EXPECT_EQ(root, 77);
    // Rank 0 sends a letter to rank 2, and rank 1 takes no part.
    uint8_t letter = 9, received = 0;
    if (rank == 0) Start(comm, {.kind = RekindleNcclOperation::kSend, .peer = 2, .in = &letter, .count = 1});
    if (rank == 2) Start(comm, {.kind = RekindleNcclOperation::kRecv, .peer = 0, .out = &received, .count = 1});
    EXPECT_EQ(received, rank == 2 ? 9 : 0);
    // What ends in order takes nothing from the others, whoever is first.
    EXPECT_EQ(api_.finish(comm, error_, 0), kRekindleNcclDone);
    End(comm);
  });
  EXPECT_EQ(calls_.Count(FakeNcclCall::kRelease), 3);
}

// A rank that dies is noticed by NCCL at rank 0, and never at rank 1. What they would have received is NaN.
TEST_F(FakeNcclTest, ADeathIsNoticedByChanceAndLeavesNothing) {
  WithRanks(3, [&](int rank, RekindleNcclComm* comm) {
    if (rank == 2) return End(comm);
    const std::vector<float> in(10, 1);
    std::vector<float> out(10);
    std::future<int> started = std::async(std::launch::async, [&] { return Start(comm, Sum(in, out)); });
    if (rank == 1) {
      EXPECT_EQ(started.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
      api_.abort(comm);
    }
    EXPECT_EQ(started.get(), kRekindleNcclFailed);
    for (const float value : out) EXPECT_TRUE(std::isnan(value));
    EXPECT_THAT(in, testing::Each(1));
    if (rank == 0) api_.abort(comm);
    api_.release(comm);
  });
}

TEST_F(FakeNcclTest, JoiningWaitsForAllAndEndsByAnAbort) {
  RekindleNcclComm* comm = nullptr;
  ASSERT_EQ(api_.join(0, 2, 0, id_.data(), &comm, error_, sizeof(error_)), kRekindleNcclPending);
  EXPECT_EQ(api_.poll(comm, error_, sizeof(error_)), kRekindleNcclPending);
  End(comm);
}

TEST_F(FakeNcclTest, AnIdOfNobodyIsRefused) {
  RekindleNcclComm* comm = nullptr;
  id_.fill(7);
  EXPECT_EQ(api_.join(0, 2, 1, id_.data(), &comm, error_, sizeof(error_)), kRekindleNcclFailed);
  EXPECT_EQ(comm, nullptr);
}

}  // namespace
}  // namespace rekindle::comm
