// Tests that a whole coordinator refuses callers without its token, and that its user finds the token.
#include <gtest/gtest.h>
#include <stdlib.h>

#include "common/rpc/local_token.h"
#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator {
namespace {

using AccessTest = ServerFixture;

TEST_F(AccessTest, OnLoopbackItHasATokenThatItsUserFinds) {
  setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
  setenv("HOME", folder_.c_str(), 1);
  options_.own_token = true;
  Start();
  EXPECT_TRUE(Submit(JobNamed("job")).ok());
  const auto without =
      v1::Coordinator::NewStub(grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  const auto refusal = [&](auto call) {
    grpc::ClientContext context;
    SetDeadline(context);
    return call(&context);
  };
  v1::Job job;
  v1::ListJobsReply jobs;
  v1::GetJobRequest get;
  get.set_job("job");
  EXPECT_EQ(refusal([&](auto* context) { return without->GetJob(context, get, &job); }).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(refusal([&](auto* context) { return without->ListJobs(context, {}, &jobs); }).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  v1::NodeDirective directive;
  const auto node = v1::Nodes::NewStub(grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials()));
  EXPECT_EQ(refusal([&](auto* context) { return node->Sync(context, AgentReport("n"), &directive); }).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  const auto token = common::ReadToken(folder_ + "/data/token");
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(common::FindToken(std::stoi(server_->address().substr(server_->address().rfind(':') + 1))).value_or(""),
            *token);
  Restart();
  EXPECT_TRUE(Get("job").ok());
  EXPECT_EQ(common::ReadToken(folder_ + "/data/token").value_or(""), *token) << "the same after a restart";
}

}  // namespace
}  // namespace rekindle::coordinator
