// Tests how rekindle-worker ends: when it has drained, when its time is over, when a second signal hurries it, and when
// it is refused.
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/agent/init/init.h"
#include "worker/agent/testing/agent_fixture.h"

namespace rekindle::agent {
namespace {

using ::testing::HasSubstr;

TEST_F(AgentTest, SigtermDrainsAndEndsWithNothingLeft) {
  Want("steady");
  StartInit({"--drain-seconds", "20"});
  WaitRunning();
  const common::ProcessIdentity trainer = Record().process;
  worker_->Signal(SIGTERM);
  const auto draining = coordinator_.WaitFor([](const v1::NodeReport& r) { return r.draining(); });
  ASSERT_TRUE(draining.has_value());
  // While the node drains, the trainer goes on until the coordinator lets the node go.
  EXPECT_NE(Running(*draining), nullptr);
  EXPECT_GT(draining->drain_within_seconds(), 15);
  EXPECT_THAT(draining->drain_reason(), HasSubstr("SIGTERM"));
  EXPECT_TRUE(trainer.Alive());
  v1::NodeDirective directive;
  directive.set_drained(true);
  coordinator_.Direct(directive);
  EXPECT_EQ(worker_->Wait(), 0);
  EXPECT_FALSE(trainer.Alive());
}

TEST_F(AgentTest, ADrainOutOfTimeStopsTheTrainers) {
  Want("steady");
  StartInit({"--drain-seconds", "0.3"});
  WaitRunning();
  const common::ProcessIdentity trainer = Record().process;
  worker_->Signal(SIGTERM);
  EXPECT_EQ(worker_->Wait(), 0);
  EXPECT_FALSE(trainer.Alive());
}

TEST_F(AgentTest, ASecondSigtermHurries) {
  Want("steady");
  StartInit({"--drain-seconds", "600"});
  WaitRunning();
  worker_->Signal(SIGTERM);
  ASSERT_TRUE(coordinator_.WaitFor([](const v1::NodeReport& r) { return r.draining(); }).has_value());
  worker_->Signal(SIGTERM);
  EXPECT_EQ(worker_->Wait(), 0);
}

TEST_F(AgentTest, AnAgentKilledInADrainDrainsAgain) {
  Want("steady");
  StartInit({"--drain-seconds", "600"});
  const std::string agent = WaitRunning().agent_incarnation();
  worker_->Signal(SIGTERM);
  ASSERT_TRUE(coordinator_.WaitFor([](const v1::NodeReport& r) { return r.draining(); }).has_value());
  ASSERT_TRUE(AgentProcess().SendSignal(SIGKILL).ok());
  const auto again = coordinator_.WaitFor(
      [&](const v1::NodeReport& r) { return r.draining() && r.agent_incarnation() != agent && Running(r); });
  EXPECT_TRUE(again.has_value());
}

TEST_F(AgentTest, NothingToDrainAndNobodyToTell) {
  coordinator_.Stop();
  StartInit({"--drain-seconds", "600"});
  // SIGTERM may come before the agent runs. The signal then waits for the agent.
  worker_->Signal(SIGTERM);
  EXPECT_EQ(worker_->Wait(), 0);
}

TEST_F(AgentTest, ARefusalIsFinal) {
  v1::NodeDirective directive;
  directive.set_error("another protocol version: install 9.9");
  coordinator_.Direct(directive);
  StartInit();
  EXPECT_EQ(worker_->Wait(), kExitRefused);
}

TEST_F(AgentTest, WhoseNameIsInUseStopsItsTrainersAndWaits) {
  Want("steady");
  StartInit();
  WaitRunning();
  const common::ProcessIdentity trainer = Record().process;
  v1::NodeDirective waits;
  waits.set_name_in_use("the name n1 is that of another machine");
  coordinator_.Direct(waits);
  ASSERT_TRUE(coordinator_.WaitFor([](const v1::NodeReport& r) { return Running(r) == nullptr; }).has_value());
  EXPECT_FALSE(trainer.Alive());
  // While another machine has the node's name, the agent waits, and it works again as soon as the name is the node's
  // own.
  Want("steady");
  WaitRunning();
  // The node has to wait for its name once more. It then has no trainer to hand over, so SIGTERM ends it at once.
  coordinator_.Direct(waits);
  ASSERT_TRUE(coordinator_.WaitFor([](const v1::NodeReport& r) { return Running(r) == nullptr; }).has_value());
  worker_->Signal(SIGTERM);
  EXPECT_EQ(worker_->Wait(), 0);
}

TEST_F(AgentTest, WrongUseIsNotTriedAgain) {
  StartInit({"--slots", "none"});
  EXPECT_EQ(worker_->Wait(), kExitWrongUse);
}

}  // namespace
}  // namespace rekindle::agent
