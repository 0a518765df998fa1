// Tests what users see of a job that has failed, and how it goes on, against a whole coordinator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "common/agreed/agreed_limits.h"
#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator {
namespace {

class FailedJobTest : public ServerFixture {};

TEST_F(FailedJobTest, AJobThatHasFailedShowsItsTracebackAndNeedsRoomToGoOn) {
  options_.max_active_jobs = 1;
  Start();
  v1::TrainerReport report;
  RunOne("job", &report);
  report.set_phase(v1::TRAINER_FAILED);
  report.set_error("odd");
  report.set_error_is_jobs_fault(true);
  report.set_traceback(std::string(60'000, 'x'));
  ASSERT_TRUE(Sync(report).ok());
  const auto failed = Get("job");
  ASSERT_TRUE(failed.ok()) << failed.status();
  EXPECT_EQ(failed->status().state(), v1::FAILED);
  EXPECT_THAT(failed->status().traceback(), testing::EndsWith("xx..."));
  EXPECT_LE(failed->status().traceback().size(), common::kLongestTraceback);
  grpc::ClientContext listing;
  v1::ListJobsRequest rows;
  rows.set_brief(true);
  v1::ListJobsReply listed;
  ASSERT_TRUE(users_->ListJobs(&listing, rows, &listed).ok());
  ASSERT_EQ(listed.jobs_size(), 1);
  EXPECT_TRUE(listed.jobs(0).status().traceback().empty()) << "The rows of a thousand jobs do not have megabytes.";

  const auto resume = [&] {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::JobRequest request;
    request.set_job(failed->uid());
    v1::Job reply;
    return users_->ResumeJob(&context, request, &reply);
  };
  ASSERT_TRUE(Submit(JobNamed("other")).ok());
  EXPECT_EQ(resume().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  ASSERT_TRUE(Cancel("other").ok());
  const grpc::Status resumed = resume();
  EXPECT_TRUE(resumed.ok()) << resumed.error_message();
  EXPECT_EQ(Get("job")->status().traceback(), "");
}

}  // namespace
}  // namespace rekindle::coordinator
