// Agents and trainers against a whole coordinator: long polls, restarts, a store that fails.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <latch>

#include "checkpoint/job_file.h"
#include "common/clock.h"
#include "common/sha256.h"
#include "coordinator/core/job_file.h"
#include "coordinator/memory_store.h"
#include "coordinator/server/server_fixture.h"

namespace rekindle::coordinator {
namespace {

MATCHER_P(IsOkAndHolds, value, "") { return arg.ok() && *arg == value; }

using testing::HasSubstr;
using testing::Not;

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
  // A lower epoch of this cluster than the one that it obeys is the node's to tell.
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
  options_.rpc.max_concurrent_streams = 4096;  // All come over one connection here.
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
  // A later call is answered after the polls before it were taken in.
  ASSERT_TRUE(Sync(AgentReport("last")).ok());
  EXPECT_FALSE(second.try_wait());
  EXPECT_LE(Threads(), before + 8);
  server_->Stop();
  second.wait();
}

class OneNameTest : public SyncTest {
 protected:
  // Polls until `done` of its answer; the last answer.
  template <typename Done>
  v1::NodeDirective SyncUntil(v1::NodeReport& report, Done done) {
    for (int i = 0; i < 200; ++i) {
      const auto directive = Sync(report);
      EXPECT_TRUE(directive.ok()) << directive.status();
      if (!directive.ok() || done(*directive)) return directive.value_or(v1::NodeDirective());
      report.set_known_revision(directive->revision());
      report.set_wait_ms(2000);
    }
    ADD_FAILURE() << "no such answer";
    return {};
  }
  v1::NodeReport OtherMachine() {
    v1::NodeReport report = AgentReport("node-a");
    report.set_incarnation("folder-2");
    report.set_agent_incarnation("agent-2");
    return report;
  }
};

TEST_F(OneNameTest, TheSecondWaitsAndTheFirstIsTold) {
  Start();
  ASSERT_TRUE(Submit(JobNamed("job")).ok());
  v1::NodeReport first = AgentReport("node-a");
  const auto before = Sync(first);
  ASSERT_TRUE(before.ok());
  ASSERT_EQ(before->trainers_size(), 1);
  auto told = std::async(std::launch::async, [&] {
    return SyncUntil(first, [](const v1::NodeDirective& d) { return !d.name_claimed().empty(); });
  });
  v1::NodeReport second = OtherMachine();
  const auto undecided = Sync(second);
  ASSERT_TRUE(undecided.ok());
  EXPECT_EQ(undecided->revision(), 0) << "what it was told before stands: nothing";
  const auto refused = SyncUntil(second, [](const v1::NodeDirective& d) { return !d.name_in_use().empty(); });
  EXPECT_THAT(refused.name_in_use(), HasSubstr("at 127.0.0.1"));
  EXPECT_EQ(refused.trainers_size(), 0);
  const v1::NodeDirective still = told.get();
  EXPECT_THAT(still.name_claimed(), HasSubstr("at 127.0.0.1"));
  EXPECT_EQ(still.trainers_size(), 1) << "what runs there goes on";
  // An address that an agent makes up is not believed.
  second.set_heard_at("10.9.8.7");
  second.set_known_revision(0);
  second.set_wait_ms(0);
  EXPECT_THAT(Sync(second)->name_in_use(), Not(HasSubstr("10.9.8.7")));
}

TEST_F(OneNameTest, WhoHungUpLosesTheNameAtOnce) {
  options_.tunables.name_seconds = 3600;
  options_.tunables.node_lost_seconds = 3600;
  options_.tunables.unanswered_seconds = 3600;
  Start();
  ASSERT_TRUE(Submit(JobNamed("job")).ok());
  ASSERT_TRUE(Sync(AgentReport("node-a")).ok());
  v1::NodeReport second = OtherMachine();
  const v1::NodeDirective taken = SyncUntil(second, [](const v1::NodeDirective& d) { return d.trainers_size() > 0; });
  EXPECT_EQ(taken.trainers_size(), 1);
}

class FailingStoreTest : public SyncTest {
 protected:
  void SetUp() override {
    SyncTest::SetUp();
    options_.store = &store_;
    options_.on_fatal = [this](const absl::Status& status) {
      if (!told_.exchange(true)) fatal_.set_value(status);
    };
  }

  MemoryStore store_;
  std::promise<absl::Status> fatal_;
  std::atomic<bool> told_ = false;
};

TEST_F(FailingStoreTest, WhileTheStoreFailsTheJobsFileIsOfWhatIsDurable) {
  Start();
  v1::TrainerReport report;
  RunOne("job", &report);
  store_.FailCommits(absl::ResourceExhaustedError("disk full"));
  EXPECT_TRUE(absl::IsUnavailable(Cancel("job").status()));
  const auto file = AskForJobFile(report);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_NE(file->job_file(), "");
  EXPECT_FALSE(file->job_is_over());
}

TEST_F(FailingStoreTest, NothingIsPublishedUntilItIsDurable) {
  Start();
  v1::TrainerReport report;
  RunOne("job", &report);
  ASSERT_TRUE(Sync(report).ok());
  store_.FailCommits(absl::ResourceExhaustedError("disk full"));

  // The change that meets the failure is kept; later ones are refused.
  const auto cancelled = Cancel("job", "id-1");
  EXPECT_EQ(cancelled.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(cancelled.status().message()), HasSubstr("disk full"));
  EXPECT_EQ(Submit(JobNamed("other")).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(Submit(JobNamed("other")).status().message()), HasSubstr("disk full"));
  EXPECT_EQ(Get("job")->status().state(), v1::RUNNING) << "what was last durable";
  report.set_wait_ms(50);
  EXPECT_EQ(Sync(report).status().code(), absl::StatusCode::kUnavailable);

  store_.FailCommits(absl::OkStatus());
  auto answer = Cancel("job", "id-1");
  while (absl::IsUnavailable(answer.status())) answer = Cancel("job", "id-1");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(Get("job")->status().state(), v1::CANCELLED);
  EXPECT_TRUE(Submit(JobNamed("other")).ok());
}

TEST_F(SyncTest, OnlyTheNewestMembershipStands) {
  Start();
  v1::TrainerReport report;
  v1::Membership membership = RunOne("job", &report).membership();
  EXPECT_THAT(Renew(report, membership), IsOkAndHolds(true));
  v1::Membership other = membership;
  other.set_digest("that of another coordinator");
  EXPECT_THAT(Renew(report, other), IsOkAndHolds(false));
  v1::TrainerReport stranger = report;
  stranger.set_job_secret("a guess");
  EXPECT_THAT(Renew(stranger, membership), IsOkAndHolds(false));
  Restart();
  while (!*Renew(report, membership)) {  // As soon as its records are read, before anybody has reported.
  }
  report.set_phase(v1::TRAINER_INTERRUPTED);
  ASSERT_TRUE(Sync(report).ok());
  EXPECT_THAT(Renew(report, membership), IsOkAndHolds(false));
}

TEST_F(SyncTest, TheJobsFileIsForItsTrainersAndSaysHowTheJobEnded) {
  Start();
  v1::TrainerReport report;
  RunOne("job", &report);
  const auto first = AskForJobFile(report);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE(first->stands()) << "that is another question";
  EXPECT_FALSE(first->job_is_over());
  const auto inner = checkpoint::DecodeJobFile(first->job_file(), report.job_uid());
  ASSERT_TRUE(inner.ok()) << inner.status();
  const auto file = core::ParseJobFile(*inner);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->identity().cluster(), first->identity().cluster());
  EXPECT_EQ(file->record().job().name(), "job");
  EXPECT_EQ(file->record().membership().generation(), 1);
  EXPECT_EQ(file->secret_sha256(), common::Sha256Hex(report.job_secret()));
  EXPECT_THAT(first->job_file(), Not(HasSubstr(report.job_secret())));
  const auto again = AskForJobFile(report, first->job_file_digest());
  if (again->job_file_digest() == first->job_file_digest()) {
    EXPECT_EQ(again->job_file(), "");
  }
  v1::TrainerReport stranger = report;
  stranger.set_job_secret("a guess");
  EXPECT_EQ(AskForJobFile(stranger)->job_file_digest(), "");

  ASSERT_TRUE(Cancel("job").ok());
  for (int starts = 0; starts < 2; ++starts) {
    const auto last = AskForJobFile(report);
    ASSERT_TRUE(last.ok()) << last.status();
    EXPECT_TRUE(last->job_is_over());
    const auto ended = core::ParseJobFile(*checkpoint::DecodeJobFile(last->job_file(), report.job_uid()));
    ASSERT_TRUE(ended.ok()) << ended.status();
    EXPECT_TRUE(ended->over());
    EXPECT_THAT(ended->over_reason(), HasSubstr("cancelled by the user"));
    if (starts == 0) Restart();
  }
}

// The node that goes on gets the job only when nobody of the one before is answered any more.
TEST_F(SyncTest, AfterTheEndOfALeaseItsMembersAreNotAnswered) {
  options_.tunables.node_lost_seconds = 0.2;
  options_.tunables.lease_seconds = 0.5;
  options_.tunables.lease_save_seconds = options_.tunables.lease_step_seconds = 0.25;
  Start();
  ASSERT_TRUE(Sync(AgentReport("node-b")).ok());
  v1::TrainerReport report;
  const v1::Membership membership = RunOne("job", &report).membership();
  EXPECT_EQ(membership.lease_seconds(), 0.5);
  ASSERT_TRUE(Sync(report).ok());
  const double begun = common::BootSeconds();
  double answered = begun;
  while (answered < begun + 2) {  // For longer than the lease: it is renewed.
    ASSERT_THAT(Renew(report, membership), IsOkAndHolds(true));
    answered = common::BootSeconds();
  }
  EXPECT_EQ(Get("job")->status().generation(), 1);
  EXPECT_EQ(Get("job")->status().state(), v1::RUNNING);
  while (Get("job")->status().state() == v1::RUNNING) {
  }
  EXPECT_GE(common::BootSeconds(), answered + 1);
  EXPECT_THAT(Renew(report, membership), IsOkAndHolds(false));
}

TEST_F(FailingStoreTest, LeasesAreRenewedAllTheSame) {
  Start();
  v1::TrainerReport report;
  const v1::Membership membership = RunOne("job", &report).membership();
  store_.FailCommits(absl::ResourceExhaustedError("disk full"));
  EXPECT_EQ(Submit(JobNamed("other")).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Renew(report, membership), IsOkAndHolds(true));
}

TEST_F(FailingStoreTest, NobodyIsFoundSilentWhoCouldNotBeHeard) {
  options_.tunables.node_lost_seconds = 1;
  Start();
  v1::TrainerReport report;
  RunOne("job", &report);
  ASSERT_TRUE(Sync(report).ok());
  store_.FailCommits(absl::ResourceExhaustedError("disk full"));
  EXPECT_EQ(Submit(JobNamed("other")).status().code(), absl::StatusCode::kUnavailable);
  report.set_wait_ms(1500);
  EXPECT_EQ(Sync(report).status().code(), absl::StatusCode::kUnavailable) << "an outage longer than the limit";
  store_.FailCommits(absl::OkStatus());
  while (absl::IsUnavailable(Submit(JobNamed("third")).status())) {
  }
  ASSERT_TRUE(Sync(AgentReport("node-a")).ok());
  report.set_wait_ms(0);
  report.set_sequence(report.sequence() + 1);
  const auto directive = Sync(report);
  ASSERT_TRUE(directive.ok());
  EXPECT_EQ(directive->revision(), report.known_revision()) << "RUN stands";
  EXPECT_EQ(Get("job")->status().generation(), 1);
}

TEST_F(FailingStoreTest, StoppingInAnOutageAnswersOnce) {
  Start();
  ASSERT_TRUE(Submit(JobNamed("job")).ok());
  store_.FailCommits(absl::ResourceExhaustedError("disk full"));
  EXPECT_FALSE(Cancel("job").ok());
  v1::NodeReport report = AgentReport("node-a");
  report.set_wait_ms(30'000);
  auto held = std::async(std::launch::async, [&] { return Sync(report, 30); });
  EXPECT_EQ(held.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  server_->Stop();
  server_->Stop();
  EXPECT_EQ(held.get().status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(FailingStoreTest, HealthTellsOfIt) {
  Start();
  ASSERT_TRUE(Submit(JobNamed("job")).ok());
  const auto serving = [&] {
    // The health service by its wire format, as any client would: field 1 of the reply is 1 when serving.
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    SetDeadline(context);
    grpc::CompletionQueue queue;
    const grpc::Slice empty;
    grpc::ByteBuffer request(&empty, 1), reply;
    auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", request, &queue);
    call->StartCall();
    grpc::Status status;
    call->Finish(&reply, &status, nullptr);
    void* tag;
    bool ok;
    queue.Next(&tag, &ok);
    EXPECT_TRUE(status.ok()) << status.error_message();
    std::vector<grpc::Slice> slices;
    EXPECT_TRUE(reply.Dump(&slices).ok());
    return !slices.empty() && slices[0].size() == 2 && slices[0].begin()[1] == 1;
  };
  EXPECT_TRUE(serving());
  store_.FailCommits(absl::ResourceExhaustedError("disk full"));
  EXPECT_FALSE(Cancel("job").ok());
  EXPECT_FALSE(serving());
  store_.FailCommits(absl::OkStatus());
  const double begun = common::SteadySeconds();
  while (!serving()) ASSERT_LT(common::SteadySeconds() - begun, 10);
}

TEST_F(FailingStoreTest, AnotherWriterIsFatal) {
  Start();
  const auto job = Submit(JobNamed("job"));
  ASSERT_TRUE(job.ok());
  ASSERT_TRUE(store_.Put("job/" + job->uid(), "someone else's").ok());
  EXPECT_EQ(Cancel("job").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(fatal_.get_future().get().code(), absl::StatusCode::kAborted);
}

}  // namespace
}  // namespace rekindle::coordinator
