// Tests a coordinator on records that were brought back from a copy, and one that was superseded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/time/clock.h"
#include "coordinator/store/cluster_record.h"
#include "coordinator/store/sqlite_store.h"
#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator {
namespace {

using testing::HasSubstr;

class EpochsTest : public ServerFixture {
 protected:
  ClusterRecord Record() {
    auto store = SqliteStore::Open(options_.data + "/state.db");
    EXPECT_TRUE(store.ok()) << store.status();
    const auto record = ReadOrMakeCluster(store->get());
    EXPECT_TRUE(record.ok()) << record.status();
    return record.value_or(ClusterRecord());
  }
  // Begins a new epoch, as happens when the records are brought back from a copy.
  ClusterRecord BeginAnother() {
    server_.reset();
    auto store = SqliteStore::Open(options_.data + "/state.db");
    EXPECT_TRUE(store.ok()) << store.status();
    const auto record = BeginEpoch(store->get());
    EXPECT_TRUE(record.ok()) << record.status();
    return record.value_or(ClusterRecord());
  }

  // Returns what the agent is told, as soon as the coordinator gives directives.
  v1::NodeDirective AwaitAnswer(const v1::NodeReport& report) {
    const double until = common::SteadySeconds() + 20;
    auto told = Sync(report);
    while (absl::IsUnavailable(told.status()) && common::SteadySeconds() < until) told = Sync(report);
    EXPECT_TRUE(told.ok()) << told.status();
    return told.value_or(v1::NodeDirective());
  }

  static v1::NodeReport Obeying(v1::NodeReport report, const common::ClusterIdentity& identity) {
    common::ToMessage(identity, report.mutable_obeys());
    return report;
  }
};

TEST_F(EpochsTest, WhoeverHasHeardOfALaterEpochEndsItsDecisions) {
  Start();
  v1::TrainerReport trainer;
  const v1::TrainerDirective running = RunOne("job", &trainer);
  common::ClusterIdentity later = common::FromMessage(running.identity());
  ++later.epoch;
  trainer.set_wait_ms(20'000);
  auto waiting = std::async(std::launch::async, [&] { return Sync(trainer, 30); });
  grpc::ClientContext watching;
  SetDeadline(watching, 30);
  v1::WatchJobRequest watch;
  watch.set_job("job");
  auto stream = users_->WatchJob(&watching, watch);
  v1::Job seen;
  ASSERT_TRUE(stream->Read(&seen));

  const auto told = Sync(Obeying(AgentReport("n2"), later));
  ASSERT_TRUE(told.ok()) << told.status();
  v1::NodeDirective nothing_else;
  *nothing_else.mutable_identity() = running.identity();
  common::ToMessage(later, nothing_else.mutable_superseded_by());
  EXPECT_EQ(told->SerializeAsString(), nothing_else.SerializeAsString());
  const auto also = waiting.get();
  ASSERT_TRUE(also.ok()) << also.status();
  EXPECT_EQ(common::FromMessage(also->superseded_by()), later);
  EXPECT_EQ(also->action(), v1::TrainerDirective::ACTION_UNSPECIFIED);
  EXPECT_FALSE(*Renew(trainer, running.membership()));
  while (stream->Read(&seen)) {
  }
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  for (const absl::Status& refused : {Cancel("job").status(), Get("job").status()}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("superseded by " + common::Describe(later)));
  }

  Restart();
  EXPECT_EQ(common::FromMessage(Sync(AgentReport("n1"))->superseded_by()), later) << "it is so for good";
  EXPECT_TRUE(absl::IsFailedPrecondition(Cancel("job").status()));
  server_.reset();
  EXPECT_EQ(Record().superseded_by, later);
}

TEST_F(EpochsTest, WhoeverHasHeardOfAnEarlierEpochIsAnsweredAtOnce) {
  Start();
  v1::NodeReport report = AgentReport("n1");
  common::ClusterIdentity ours = common::FromMessage(Sync(report)->identity());
  report.set_known_revision(Sync(report)->revision());
  report.set_wait_ms(20'000);
  common::ClusterIdentity earlier = ours;
  earlier.epoch_tag /= 2;
  const double start = common::SteadySeconds();
  const auto told = Sync(Obeying(report, earlier));
  ASSERT_TRUE(told.ok()) << told.status();
  EXPECT_LT(common::SteadySeconds(), start + 10) << "nothing else is news to it";
  EXPECT_EQ(common::FromMessage(told->identity()), ours);
}

TEST_F(EpochsTest, AnEpochThatCannotBeMeantEndsNothing) {
  Start();
  common::ClusterIdentity absurd = common::FromMessage(Sync(AgentReport("n1"))->identity());
  absurd.epoch += 2'000'000;
  EXPECT_FALSE(Sync(Obeying(AgentReport("n2"), absurd))->has_superseded_by());
  EXPECT_TRUE(Submit(JobNamed("job")).ok());
}

TEST_F(EpochsTest, OnRecordsOfACopyItListensAndThenDecidesInAnEpochAboveAll) {
  Start();
  v1::TrainerReport trainer;
  const v1::TrainerDirective running = RunOne("job", &trainer);
  const ClusterRecord restored = BeginAnother();
  EXPECT_EQ(restored.identity.epoch, 2);
  options_.listen_seconds = 3;
  const double begun = common::SteadySeconds();
  Start();
  EXPECT_TRUE(absl::IsUnavailable(Sync(AgentReport("node-a")).status()));
  EXPECT_TRUE(absl::IsUnavailable(Cancel("job").status()));
  EXPECT_EQ(Get("job")->status().state(), v1::RUNNING) << "what is known is shown";
  EXPECT_FALSE(*Renew(trainer, running.membership())) << "it may be over";
  common::ClusterIdentity heard = restored.identity;
  // The agent has heard of epoch 7, which began when another copy of the records was brought back earlier.
  heard.epoch = 7;
  EXPECT_TRUE(absl::IsUnavailable(Sync(Obeying(AgentReport("node-a"), heard)).status()));
  const v1::NodeDirective told = AwaitAnswer(AgentReport("node-a"));
  EXPECT_GE(common::SteadySeconds() - begun, options_.listen_seconds);
  EXPECT_EQ(told.identity().epoch(), 8);
  server_.reset();
  EXPECT_EQ(Record().identity, common::FromMessage(told.identity()));
  EXPECT_FALSE(Record().listen_first);
  Start();
  EXPECT_TRUE(Sync(AgentReport("node-a")).ok()) << "a restart is no copy";
}

TEST_F(EpochsTest, ACopyOfACoordinatorThatWasSupersededIsLaterThanWhatSupersededIt) {
  Start();
  common::ClusterIdentity later = common::FromMessage(Sync(AgentReport("n1"))->identity());
  later.epoch = 4;
  EXPECT_TRUE(Sync(Obeying(AgentReport("n1"), later))->has_superseded_by());
  const ClusterRecord restored = BeginAnother();
  EXPECT_EQ(restored.identity.epoch, 5);
  EXPECT_EQ(restored.superseded_by, std::nullopt);
  options_.listen_seconds = 1;
  Start();
  EXPECT_EQ(AwaitAnswer(Obeying(AgentReport("n1"), later)).identity().epoch(), 5);
}

}  // namespace
}  // namespace rekindle::coordinator
