// Tests agents and trainers against a whole coordinator: long polls and restarts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <latch>

#include "common/time/clock.h"
#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator {
namespace {

using testing::HasSubstr;

class SyncTest : public ServerFixture {};

TEST_F(SyncTest, ALongPollAnswersAtOnceWhenTheDirectiveChanges) {
  Start();
  v1::TrainerReport report;
  RunOne("job", &report);
  report.set_wait_ms(20'000);
  auto poll = std::async(std::launch::async, [&] { return Sync(report, 30); });
  EXPECT_EQ(poll.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  const double begun = common::SteadySeconds();
  ASSERT_TRUE(Cancel("job").ok());
  const auto directive = poll.get();
  ASSERT_TRUE(directive.ok()) << directive.status();
  EXPECT_EQ(directive->action(), v1::TrainerDirective::EXIT);
  EXPECT_LT(common::SteadySeconds() - begun, 5);
}

TEST_F(SyncTest, EachAnswerSaysWhoDecidesAndAnotherClustersNodesAreToldNothingElse) {
  Start();
  v1::NodeReport report = AgentReport("n1");
  const auto first = Sync(report);
  ASSERT_TRUE(first.ok()) << first.status();
  const common::ClusterIdentity ours = common::FromMessage(first->identity());
  EXPECT_EQ(ours.epoch, 1);
  report.set_known_revision(first->revision());
  EXPECT_EQ(common::FromMessage(Sync(report)->identity()), ours) << "also where it says no more than that";
  Restart();
  EXPECT_EQ(common::FromMessage(Sync(report)->identity()), ours);

  v1::NodeReport foreign = AgentReport("n2");
  common::ToMessage(common::NewCluster(), foreign.mutable_obeys());
  const auto told = Sync(foreign);
  ASSERT_TRUE(told.ok()) << told.status();
  EXPECT_EQ(common::FromMessage(told->identity()), ours);
  v1::NodeDirective nothing_else;
  *nothing_else.mutable_identity() = told->identity();
  EXPECT_EQ(told->SerializeAsString(), nothing_else.SerializeAsString());
  grpc::ClientContext context;
  SetDeadline(context);
  v1::ListNodesReply nodes;
  ASSERT_TRUE(users_->ListNodes(&context, {}, &nodes).ok());
  ASSERT_EQ(nodes.nodes_size(), 1);
  EXPECT_EQ(nodes.nodes(0).name(), "n1");
  // Node n2 was told nothing, because it obeyed another cluster. Now it obeys the coordinator's, and gets a directive.
  common::ToMessage(ours, foreign.mutable_obeys());
  EXPECT_GT(Sync(foreign)->revision(), 0);
}

TEST_F(SyncTest, ALongPollEndsWithTheSameRevisionWhenItsTimeIsOver) {
  Start();
  v1::TrainerReport report;
  RunOne("job", &report);
  report.set_wait_ms(50);
  const auto directive = Sync(report);
  ASSERT_TRUE(directive.ok());
  EXPECT_EQ(directive->revision(), report.known_revision());
  EXPECT_EQ(directive->action(), v1::TrainerDirective::ACTION_UNSPECIFIED) << "what is known is not told again";
}

TEST_F(SyncTest, BadReportsAreRefused) {
  Start();
  EXPECT_EQ(Sync(AgentReport("")).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Sync(AgentReport("a\nb")).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Sync(AgentReport(std::string(1000, 'a'))).status().code(), absl::StatusCode::kInvalidArgument);
  v1::NodeReport older = AgentReport("old");
  older.set_protocol_version(common::kProtocolVersion + 1);
  const auto refused = Sync(older);
  ASSERT_TRUE(refused.ok());
  EXPECT_THAT(refused->error(), HasSubstr("protocol"));

  v1::TrainerReport report;
  RunOne("job", &report);
  report.set_trainer("node-a/0/other");
  report.set_job_secret("wrong");
  EXPECT_NE(Sync(report)->error(), "");
  report.set_job_uid("0123");
  report.set_known_revision(-1);
  EXPECT_TRUE(Sync(report)->tell_membership()) << "of a job without a record: it goes on";
}

TEST_F(SyncTest, OnLoopbackADeviceForTestsIsNotRefused) {
  Start();
  v1::NodeReport report = AgentReport("n1");
  report.mutable_device()->set_kind("cuda");
  report.mutable_device()->set_is_fake(true);
  const auto directive = Sync(report);
  ASSERT_TRUE(directive.ok()) << directive.status();
  EXPECT_EQ(directive->error(), "");
}

TEST_F(SyncTest, ARestartKeepsJobsAndGeneration) {
  Start();
  v1::TrainerReport report;
  const v1::TrainerDirective first = RunOne("job", &report);
  ASSERT_TRUE(Sync(report).ok());
  const std::string uid = Get("job")->uid();

  Restart();
  EXPECT_EQ(Get("job")->uid(), uid);
  EXPECT_EQ(Get("job")->status().state(), v1::RUNNING);
  ASSERT_TRUE(Sync(AgentReport("node-a")).ok());
  report.set_sequence(report.sequence() + 1);
  const auto directive = Sync(report);
  ASSERT_TRUE(directive.ok()) << directive.status();
  EXPECT_EQ(directive->revision(), first.revision()) << "what it was told stands: " << directive->ShortDebugString();
}

TEST_F(SyncTest, StoppingAnswersWhatWaits) {
  Start();
  v1::TrainerReport report;
  RunOne("job", &report);
  report.set_wait_ms(30'000);
  auto poll = std::async(std::launch::async, [&] { return Sync(report, 30); });
  EXPECT_EQ(poll.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  const double begun = common::SteadySeconds();
  server_->Stop();
  EXPECT_EQ(poll.get().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_LT(common::SteadySeconds() - begun, 5);
}

int Threads() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "Threads:") return status >> word, std::stoi(word);
  }
  return -1;
}

TEST_F(SyncTest, ThousandsOfWaitingPollsCostNoThread) {
  // The test sends all its polls over one connection, which must allow that many calls at a time.
  options_.rpc.max_concurrent_streams = 4096;
  Start();
  constexpr int kPolls = 2000;
  struct Poll {
    grpc::ClientContext context;
    v1::NodeReport report;
    v1::NodeDirective directive;
  };
  std::vector<std::unique_ptr<Poll>> polls;
  std::latch first(kPolls), second(kPolls);
  std::atomic<int> failed = 0;
  for (int i = 0; i < kPolls; ++i) {
    Poll& poll = *polls.emplace_back(std::make_unique<Poll>());
    poll.report = AgentReport("node-" + std::to_string(i));
    SetDeadline(poll.context, 60);
    nodes_->async()->Sync(&poll.context, &poll.report, &poll.directive, [&](grpc::Status status) {
      failed += !status.ok();
      first.count_down();
    });
  }
  first.wait();
  EXPECT_EQ(failed, 0);
  const int before = Threads();
  for (auto& poll : polls) {
    auto next = std::make_unique<Poll>();
    next->report = poll->report;
    next->report.set_known_revision(poll->directive.revision());
    next->report.set_wait_ms(30'000);
    SetDeadline(next->context, 60);
    poll = std::move(next);
    nodes_->async()->Sync(&poll->context, &poll->report, &poll->directive, [&](grpc::Status status) {
      failed += !status.ok();
      second.count_down();
    });
  }
  // The node "last" reports after all polls were sent. So when its report is answered, the coordinator has received all
  // polls.
  ASSERT_TRUE(Sync(AgentReport("last")).ok());
  EXPECT_FALSE(second.try_wait());
  EXPECT_LE(Threads(), before + 8);
  server_->Stop();
  second.wait();
}

}  // namespace
}  // namespace rekindle::coordinator
