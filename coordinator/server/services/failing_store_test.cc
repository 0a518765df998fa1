// Tests a whole coordinator whose store cannot be written.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "common/time/clock.h"
#include "coordinator/store/testing/memory_store.h"
#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator {
namespace {

using testing::HasSubstr;

class FailingStoreTest : public ServerFixture {
 protected:
  void SetUp() override {
    ServerFixture::SetUp();
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

  // The cancellation is the first change whose save fails. The coordinator keeps it, to save it later, and refuses all
  // later changes.
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

TEST_F(FailingStoreTest, LeasesAreRenewedAllTheSame) {
  Start();
  v1::TrainerReport report;
  const v1::Membership membership = RunOne("job", &report).membership();
  store_.FailCommits(absl::ResourceExhaustedError("disk full"));
  EXPECT_EQ(Submit(JobNamed("other")).status().code(), absl::StatusCode::kUnavailable);
  const auto renewed = Renew(report, membership);
  ASSERT_TRUE(renewed.ok()) << renewed.status();
  EXPECT_TRUE(*renewed);
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
    // The test speaks the wire format of the health service, as any client would: field 1 of the reply is 1 while the
    // coordinator serves.
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
