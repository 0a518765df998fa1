// Tests the sequence of NCCL's calls on one rank: each call fails once, and each wait is given up once.
#include "worker/comm/nccl/nccl_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include "worker/comm/contract/communicator.h"
#include "worker/comm/nccl/fake_nccl.h"
#include "worker/comm/testing/fake_nccl_calls.h"

namespace rekindle::comm {
namespace {

using Call = FakeNcclCall;
using Fault = FakeNcclFault;
using Outcome = NcclSession::Outcome;
using testing::HasSubstr;

constexpr double kLong = 60;

// Has a session in a world of one rank.
class NcclSessionTest : public testing::Test {
 protected:
  void SetUp() override {
    char error[256] = "";
    ASSERT_EQ(FakeNccl().make_id(id_.data(), error, sizeof(error)), kRekindleNcclDone) << error;
  }
  void TearDown() override {
    calls_.Befall({});
    session_->End(NcclSession::Way::kAbort);
    EXPECT_TRUE(session_->AwaitEnd(kLong));
  }
  void Befall(Call which, Fault fault) { calls_.Befall(0, which, fault); }
  // Waits are given up after a hundred checks with `patient` false.
  Outcome Join(bool patient = true) { return session_->Join(0, 1, 0, id_.data(), GoOn(patient)); }
  bool Start() {
    return session_->Start({.kind = RekindleNcclOperation::kAllReduce,
                            .type = static_cast<uint32_t>(DataType::kFloat32),
                            .in = in_,
                            .out = out_,
                            .count = 2});
  }
  static NcclSession::GoOn GoOn(bool patient = true) {
    return [patient, left = 100]() mutable {
      std::this_thread::yield();
      return patient || --left > 0;
    };
  }

  FakeNcclCalls calls_;
  std::array<unsigned char, kRekindleNcclIdBytes> id_ = {};
  std::unique_ptr<NcclSession> session_ = std::make_unique<NcclSession>(FakeNccl());
  float in_[2] = {1, 2}, out_[2] = {};
};

TEST_F(NcclSessionTest, JoinsStartsAndEndsOnce) {
  ASSERT_EQ(Join(), Outcome::kDone);
  ASSERT_TRUE(Start());
  ASSERT_EQ(session_->Settle(GoOn()), Outcome::kDone);
  EXPECT_EQ(out_[1], 2);
  EXPECT_FALSE(session_->AwaitEnd(0));
  session_->End(NcclSession::Way::kInOrder);
  session_->End(NcclSession::Way::kAbort);
  EXPECT_TRUE(session_->AwaitEnd(kLong));
  EXPECT_FALSE(Start());
  EXPECT_EQ(session_->Settle(GoOn()), Outcome::kGivenUp);
  for (const Call call : {Call::kJoin, Call::kStart, Call::kAbort, Call::kRelease}) {
    EXPECT_EQ(calls_.Count(call), 1) << static_cast<int>(call);
  }
}

TEST_F(NcclSessionTest, AFailureAtEachCallStays) {
  Befall(Call::kPollJoin, Fault::kFail);
  EXPECT_EQ(Join(), Outcome::kFailed);
  EXPECT_THAT(session_->error(), HasSubstr("joining failed: injected"));
  for (const Call call : {Call::kStart, Call::kPoll}) {
    TearDown();
    SetUp();
    session_ = std::make_unique<NcclSession>(FakeNccl());
    ASSERT_EQ(Join(), Outcome::kDone);
    Befall(call, Fault::kFail);
    EXPECT_EQ(Start(), call == Call::kPoll);
    EXPECT_EQ(session_->Settle(GoOn()), Outcome::kFailed);
    calls_.Befall({});
    EXPECT_EQ(session_->Settle(GoOn()), Outcome::kFailed);
    EXPECT_THAT(session_->error(), HasSubstr("an operation failed: injected"));
  }
}

TEST_F(NcclSessionTest, AJoinThatFailsAtOnceLeavesNothing) {
  Befall(Call::kJoin, Fault::kFail);
  EXPECT_EQ(Join(), Outcome::kFailed);
  EXPECT_FALSE(Start());
  session_->End(NcclSession::Way::kAbort);
  EXPECT_TRUE(session_->AwaitEnd(0));
  EXPECT_EQ(calls_.Count(Call::kAbort), 0);
}

TEST_F(NcclSessionTest, GivesUpEachWait) {
  Befall(Call::kPollJoin, Fault::kHang);
  EXPECT_EQ(Join(false), Outcome::kGivenUp);
  calls_.Befall({});
  EXPECT_EQ(session_->Settle(GoOn()), Outcome::kDone) << "what was given up may still come to its end";
  Befall(Call::kPoll, Fault::kHang);
  EXPECT_EQ(session_->Settle(GoOn(false)), Outcome::kGivenUp);
}

// An abort ends an operation that hangs. One that hangs itself holds up neither its caller nor the session's end.
TEST_F(NcclSessionTest, AnAbortThatHangsHoldsUpNobody) {
  ASSERT_EQ(Join(), Outcome::kDone);
  std::atomic<bool> hangs = true;
  calls_.Befall([&](Call call, int) {
    return call == Call::kStart || (call == Call::kAbort && hangs) ? Fault::kHang : Fault::kNone;
  });
  std::jthread kernel([&] { EXPECT_FALSE(Start()); });
  while (calls_.Count(Call::kStart) == 0) std::this_thread::yield();
  session_->End(NcclSession::Way::kAbort);
  EXPECT_FALSE(session_->AwaitEnd(0.2));
  hangs = false;
  EXPECT_TRUE(session_->AwaitEnd(kLong));
}

}  // namespace
}  // namespace rekindle::comm
