// Tests the sequence of NCCL's calls on one rank: each call fails once, and each wait is given up once.
#include "worker/comm/nccl/nccl_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "worker/comm/contract/communicator.h"
#include "worker/comm/testing/nccl_fake.h"

namespace rekindle::comm {
namespace {

using Call = FakeNccl::Call;
using Fault = FakeNccl::Fault;
using Outcome = NcclSession::Outcome;
using testing::HasSubstr;

// Has a session in a world of one rank, whose waits are given up after a hundred checks.
class NcclSessionTest : public testing::Test {
 protected:
  Outcome Join() { return session_->Join(0, 1, 0, id_.data(), GoOn()); }
  Outcome Run() {
    return session_->Run({.kind = RekindleNcclOperation::kAllReduce,
                          .type = static_cast<uint32_t>(DataType::kFloat32),
                          .in = in_,
                          .out = out_,
                          .count = 2,
                          .stream = &fake_},
                         GoOn());
  }
  NcclSession::GoOn GoOn() {
    return [this, left = 100]() mutable {
      ++waits_;
      return --left > 0;
    };
  }

  FakeNccl fake_;
  std::array<unsigned char, kRekindleNcclIdBytes> id_ = [] {
    std::array<unsigned char, kRekindleNcclIdBytes> id;
    id.fill(7);
    return id;
  }();
  std::unique_ptr<NcclSession> session_ = std::make_unique<NcclSession>(fake_.api());
  float in_[2] = {1, 2}, out_[2] = {};
  int waits_ = 0;
};

TEST_F(NcclSessionTest, JoinsRunsAndIsAbortedOnce) {
  ASSERT_EQ(Join(), Outcome::kDone);
  ASSERT_EQ(Run(), Outcome::kDone);
  EXPECT_EQ(out_[1], 2);
  EXPECT_GT(waits_, 1) << "joining and starting are not done at once";
  session_.reset();
  EXPECT_EQ(fake_.made(), 1);
  EXPECT_EQ(fake_.aborted(), 1);
  EXPECT_EQ(fake_.misused(), 0);
}

TEST_F(NcclSessionTest, FailureAtEachCallAbortsAtOnce) {
  for (const Call call : {Call::kPollJoin, Call::kStart, Call::kPollStart, Call::kMark, Call::kMarked}) {
    FakeNccl fake;
    NcclSession session(fake.api());
    fake.Befall(0, call, Fault::kFail);
    const auto go_on = [] { return true; };
    Outcome outcome = session.Join(0, 1, 0, id_.data(), go_on);
    if (call != Call::kPollJoin) {
      ASSERT_EQ(outcome, Outcome::kDone);
      outcome = session.Run({.in = in_, .out = out_, .count = 2, .stream = &fake}, go_on);
    }
    EXPECT_EQ(outcome, Outcome::kFailed);
    EXPECT_THAT(session.error(), HasSubstr("injected"));
    EXPECT_EQ(fake.aborted(), 1) << static_cast<int>(call);
    // After a failure, later calls fail without using the NCCL communicator.
    EXPECT_EQ(session.Run({.in = in_, .out = out_, .count = 2, .stream = &fake}, go_on), Outcome::kFailed);
    EXPECT_THAT(session.error(), HasSubstr("aborted"));
    EXPECT_EQ(fake.misused(), 0);
  }
}

TEST_F(NcclSessionTest, FailureWhileTheDeviceWorks) {
  fake_.Befall(0, Call::kMarked, Fault::kHang);
  fake_.Befall(0, Call::kPollMarked, Fault::kFail);
  ASSERT_EQ(Join(), Outcome::kDone);
  EXPECT_EQ(Run(), Outcome::kFailed);
  EXPECT_THAT(session_->error(), HasSubstr("under way"));
  EXPECT_EQ(fake_.aborted(), 1);
}

TEST_F(NcclSessionTest, JoinThatFailsAtOnceLeavesNothing) {
  fake_.Befall(0, Call::kJoin, Fault::kFail);
  EXPECT_EQ(Join(), Outcome::kFailed);
  EXPECT_EQ(Run(), Outcome::kFailed);
  session_.reset();
  EXPECT_EQ(fake_.made(), 0);
  EXPECT_EQ(fake_.aborted(), 0);
}

TEST_F(NcclSessionTest, GivesUpEachWait) {
  fake_.Befall(0, Call::kPollJoin, Fault::kHang);
  EXPECT_EQ(Join(), Outcome::kGivenUp);
  EXPECT_EQ(fake_.aborted(), 1);
  for (const Call call : {Call::kPollStart, Call::kMarked}) {
    FakeNccl fake;
    NcclSession session(fake.api());
    fake.Befall(0, call, Fault::kHang);
    ASSERT_EQ(session.Join(0, 1, 0, id_.data(), GoOn()), Outcome::kDone);
    EXPECT_EQ(session.Run({.in = in_, .out = out_, .count = 2, .stream = &fake}, GoOn()), Outcome::kGivenUp);
    EXPECT_EQ(fake.aborted(), 1);
    EXPECT_EQ(fake.misused(), 0);
  }
}

}  // namespace
}  // namespace rekindle::comm
