// Tests that the coordinator forgets a job when a user asks for it or a limit is reached, as its clients and its
// database show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/time/clock.h"
#include "coordinator/store/sqlite_store.h"
#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator {
namespace {

using testing::HasSubstr;

class ForgettingTest : public ServerFixture {
 protected:
  absl::StatusOr<v1::ForgetJobReply> Forget(const std::string& name, const std::string& request_id = "") {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::JobRequest request;
    request.set_job(name);
    request.set_request_id(request_id);
    return Checked<v1::ForgetJobReply>(
        [&](v1::ForgetJobReply* reply) { return users_->ForgetJob(&context, request, reply); });
  }
  std::string Ended(const std::string& name) {
    const auto job = Submit(JobNamed(name));
    EXPECT_TRUE(job.ok()) << job.status();
    EXPECT_TRUE(Cancel(name).ok());
    return job.ok() ? job->uid() : "";
  }
  bool IsGoneSoon(const std::string& name) {
    const double until = common::SteadySeconds() + 20;
    while (Get(name).ok()) {
      if (common::SteadySeconds() > until) return false;
    }
    return true;
  }
  // Counts the records in the database. REQUIRES: the coordinator has ended.
  size_t RecordsOf(const std::string& prefix) {
    auto store = SqliteStore::Open(folder_ + "/data/state.db");
    EXPECT_TRUE(store.ok()) << store.status();
    const auto entries = (*store)->List(prefix);
    EXPECT_TRUE(entries.ok()) << entries.status();
    return entries->size();
  }
};

TEST_F(ForgettingTest, AJobThatIsOverIsForgottenWhereItsUserAsks) {
  Start();
  ASSERT_TRUE(Submit(JobNamed("job")).ok());
  const auto refused = Forget("job");
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status())) << refused.status();
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("`rekindle cancel job` it first"));
  const auto job = Cancel("job");
  ASSERT_TRUE(job.ok()) << job.status();

  const auto reply = Forget("job", "id-1");
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->job().uid(), job->uid());
  EXPECT_EQ(reply->checkpoints(), "file://" + folder_ + "/data/checkpoints/" + job->uid());
  EXPECT_TRUE(absl::IsNotFound(Get("job").status()));
  EXPECT_TRUE(absl::IsNotFound(Get(job->uid()).status()));
  EXPECT_TRUE(absl::IsNotFound(Forget("job").status()));
  EXPECT_EQ(Forget("job", "id-1")->checkpoints(), reply->checkpoints()) << "a repeated request gets its first answer";

  Restart();
  EXPECT_TRUE(absl::IsNotFound(Get(job->uid()).status()));
  EXPECT_TRUE(Submit(JobNamed("job")).ok()) << "the name is free";
  server_.reset();
  EXPECT_EQ(RecordsOf("job/"), 1u);
}

TEST_F(ForgettingTest, TheNameLeadsToTheOneBeforeWhereTheNewestIsForgotten) {
  Start();
  const std::string first = Ended("job"), second = Ended("job");
  EXPECT_EQ(Get("job")->uid(), second);
  ASSERT_TRUE(Forget("job").ok());
  EXPECT_EQ(Get("job")->uid(), first);
}

TEST_F(ForgettingTest, OneJobPastTheLimitHasTheOneThatEndedFirstForgotten) {
  options_.tunables.keep_jobs = 2;
  Start();
  ASSERT_TRUE(Submit(JobNamed("active")).ok());
  const std::string first = Ended("a"), second = Ended("b");
  EXPECT_TRUE(Get(first).ok());
  Ended("c");
  EXPECT_TRUE(IsGoneSoon(first));
  EXPECT_TRUE(Get(second).ok());
  EXPECT_TRUE(Get("active").ok());
  server_.reset();
  EXPECT_EQ(RecordsOf("job/"), 3u);
}

TEST_F(ForgettingTest, WhoeverWatchesAJobIsToldThatThereIsNone) {
  Start();
  Ended("job");
  grpc::ClientContext context;
  SetDeadline(context);
  v1::ReadLogRequest request;
  request.set_job("job");
  request.set_follow(true);
  auto logs = users_->ReadLog(&context, request);
  ASSERT_TRUE(Forget("job").ok());
  v1::LogLines lines;
  while (logs->Read(&lines)) {
  }
  const grpc::Status ended = logs->Finish();
  EXPECT_TRUE(ended.ok() || ended.error_code() == grpc::StatusCode::NOT_FOUND) << ended.error_message();
}

}  // namespace
}  // namespace rekindle::coordinator
