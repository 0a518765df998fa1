// Tests users' calls to a whole coordinator: changes of jobs and nodes, streams, bad input, and repeated requests,
// which must not run twice.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <atomic>

#include "coordinator/testing/server_fixture.h"

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class UserServiceTest : public ServerFixture {
 protected:
  std::vector<v1::Event> Events(const std::string& job, int after = 0) {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::ListEventsRequest request;
    request.set_job(job);
    request.set_after_revision(after);
    auto stream = users_->ListEvents(&context, request);
    std::vector<v1::Event> events;
    for (v1::Event event; stream->Read(&event);) events.push_back(event);
    const grpc::Status status = stream->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    return events;
  }
};

TEST_F(UserServiceTest, SubmitGetCancel) {
  Start();
  const auto job = Submit(JobNamed("job"));
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->uid().size(), 32u);
  EXPECT_EQ(job->status().state(), v1::PENDING);
  EXPECT_EQ(job->status().resolved_spec().checkpoint().store(), "file://" + folder_ + "/data/checkpoints");
  EXPECT_GT(job->status().submitted_at(), 1.7e9);
  EXPECT_EQ(Get(job->uid())->name(), "job");

  const auto twice = Submit(JobNamed("job"));
  EXPECT_EQ(twice.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Get("none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Cancel("none").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Cancel("job")->status().state(), v1::CANCELLED);
  EXPECT_TRUE(Submit(JobNamed("job")).ok()) << "the name is free again";
}

TEST_F(UserServiceTest, AnotherStoreMustBeOneAndIsForResultsThatAreNotSaved) {
  Start();
  ASSERT_TRUE(Submit(JobNamed("job")).ok());
  const auto resume = [&](const std::string& store) {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::JobRequest request;
    request.set_job("job");
    request.set_store(store);
    v1::Job reply;
    return users_->ResumeJob(&context, request, &reply);
  };
  EXPECT_THAT(resume("no/uri").error_message(), HasSubstr("store: "));
  EXPECT_THAT(resume("file:///" + std::string(5000, 'x')).error_message(), HasSubstr("at most 4096 bytes"));
  const grpc::Status early = resume("file:///other");
  EXPECT_EQ(early.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(early.error_message(), HasSubstr("has steps to make"));
}

TEST_F(UserServiceTest, BadSpecsChangeNothing) {
  Start();
  v1::Job job = JobNamed("job");
  job.mutable_spec()->mutable_training()->set_reduce("exat");
  const auto refused = Submit(job);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("spec.training.reduce"));
  job = JobNamed("job");
  job.mutable_spec()->mutable_data()->set_text(0, folder_ + "/none.txt");
  EXPECT_THAT(std::string(Submit(job).status().message()), HasSubstr("none.txt"));
  EXPECT_EQ(Submit(JobNamed("Bad Name")).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Events("").empty());
  EXPECT_EQ(Get("job").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(UserServiceTest, ValidateResolvesAndChangesNothing) {
  Start();
  grpc::ClientContext context;
  v1::ValidateJobRequest request;
  *request.mutable_job() = JobNamed("job");
  v1::Job reply;
  const grpc::Status status = users_->ValidateJob(&context, request, &reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(reply.status().resolved_spec().model().kind(), "gpt");
  EXPECT_EQ(Get("job").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(UserServiceTest, ARepeatedRequestGetsItsFirstAnswerAlsoAfterARestart) {
  Start();
  const auto first = Submit(JobNamed("job"), "id-1");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(Submit(JobNamed("job"), "id-1")->uid(), first->uid());
  ASSERT_TRUE(Cancel("job", "id-2").ok());
  Restart();
  std::filesystem::remove(folder_ + "/text.txt");
  const auto again = Submit(JobNamed("job"), "id-1");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->SerializeAsString(), first->SerializeAsString());
  const auto other = Cancel("job", "id-1");
  EXPECT_EQ(other.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(other.status().message()), HasSubstr("request_id"));
  EXPECT_EQ(Submit(JobNamed("job"), "bad id").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(UserServiceTest, SecretsStayWithAgents) {
  Start();
  v1::TrainerReport report;
  RunOne("job", &report);
  ASSERT_EQ(report.job_secret().size(), 32u);
  const std::string job = Get("job")->SerializeAsString();
  EXPECT_EQ(job.find(report.job_secret()), std::string::npos);
  for (const v1::Event& event : Events("job")) {
    EXPECT_EQ(event.SerializeAsString().find(report.job_secret()), std::string::npos);
  }
}

TEST_F(UserServiceTest, JobsAndNodesArePaged) {
  Start();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Submit(JobNamed("job-" + std::to_string(i))).ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Sync(AgentReport("node-" + std::to_string(i))).ok());
  std::vector<std::string> jobs, nodes;
  v1::ListJobsRequest request;
  request.set_page_size(2);
  do {
    grpc::ClientContext context;
    v1::ListJobsReply reply;
    ASSERT_TRUE(users_->ListJobs(&context, request, &reply).ok());
    for (const v1::Job& job : reply.jobs()) jobs.push_back(job.name());
    request.set_page_token(reply.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_THAT(jobs, ElementsAre("job-0", "job-1", "job-2", "job-3", "job-4"));
  v1::ListNodesRequest node_request;
  node_request.set_page_size(2);
  do {
    grpc::ClientContext context;
    v1::ListNodesReply reply;
    ASSERT_TRUE(users_->ListNodes(&context, node_request, &reply).ok());
    for (const v1::Node& node : reply.nodes()) nodes.push_back(node.name());
    node_request.set_page_token(reply.next_page_token());
  } while (!node_request.page_token().empty());
  EXPECT_THAT(nodes, ElementsAre("node-0", "node-1", "node-2"));
  grpc::ClientContext context;
  request.set_page_size(-1);
  v1::ListJobsReply reply;
  EXPECT_EQ(users_->ListJobs(&context, request, &reply).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(UserServiceTest, JobsAreListedByTeamStateAndTime) {
  Start();
  for (const char* team : {"vision", "speech"}) {
    v1::Job job = JobNamed(absl::StrCat("of-", team));
    job.mutable_spec()->set_team(team);
    ASSERT_TRUE(Submit(job).ok());
  }
  ASSERT_TRUE(Cancel("of-speech").ok());
  const auto names = [&](const v1::ListJobsRequest& request) {
    grpc::ClientContext context;
    v1::ListJobsReply reply;
    EXPECT_TRUE(users_->ListJobs(&context, request, &reply).ok());
    std::vector<std::string> listed;
    for (const v1::Job& job : reply.jobs()) listed.push_back(job.name());
    return listed;
  };
  v1::ListJobsRequest of_team, ended, later, ended_of_vision;
  of_team.set_team("vision");
  EXPECT_THAT(names(of_team), ElementsAre("of-vision"));
  ended.add_states(v1::CANCELLED);
  ended.add_states(v1::FAILED);
  EXPECT_THAT(names(ended), ElementsAre("of-speech"));
  later.set_submitted_since(1e12);
  EXPECT_THAT(names(later), ElementsAre());
  ended_of_vision = ended;
  ended_of_vision.set_team("vision");
  ended_of_vision.set_page_size(1);
  EXPECT_THAT(names(ended_of_vision), ElementsAre());
}

TEST_F(UserServiceTest, ABriefListLeavesTheHistoryOut) {
  Start();
  v1::TrainerReport report;
  RunOne("job", &report);
  grpc::ClientContext context;
  v1::ListJobsRequest request;
  request.set_brief(true);
  v1::ListJobsReply reply;
  ASSERT_TRUE(users_->ListJobs(&context, request, &reply).ok());
  ASSERT_EQ(reply.jobs_size(), 1);
  const v1::JobStatus& brief = reply.jobs(0).status();
  EXPECT_EQ(brief.state(), v1::RUNNING);
  EXPECT_EQ(brief.members_size(), 1);
  EXPECT_GT(brief.submitted_at(), 1.7e9);
  EXPECT_GT(brief.resolved_spec().training().steps(), 0);
  EXPECT_FALSE(reply.jobs(0).has_spec());
  EXPECT_EQ(brief.levers_size() + brief.loss_curve_size() + brief.faults_size(), 0);
}

TEST_F(UserServiceTest, TheOwnerIsWhoTheRequestNames) {
  Start();
  v1::SubmitJobRequest request;
  *request.mutable_job() = JobNamed("job");
  request.set_owner(std::string(128, 'o'));
  grpc::ClientContext context, too_long, get;
  v1::Job job;
  ASSERT_TRUE(users_->SubmitJob(&context, request, &job).ok());
  EXPECT_EQ(job.status().owner(), request.owner());
  request.set_owner(std::string(129, 'o'));
  EXPECT_EQ(users_->SubmitJob(&too_long, request, &job).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(UserServiceTest, ADrainIsTakenBack) {
  Start();
  v1::TrainerReport report;
  RunOne("job", &report);
  v1::DrainNodeRequest drain;
  drain.set_node(report.node());
  v1::UndrainNodeRequest undrain;
  undrain.set_node(report.node());
  v1::Node node;
  grpc::ClientContext drains, undrains, again;
  ASSERT_TRUE(users_->DrainNode(&drains, drain, &node).ok());
  EXPECT_EQ(node.state(), "draining");
  ASSERT_TRUE(users_->UndrainNode(&undrains, undrain, &node).ok());
  EXPECT_EQ(node.state(), "ready");
  EXPECT_EQ(users_->UndrainNode(&again, undrain, &node).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(UserServiceTest, DrainTellsTheNode) {
  Start();
  ASSERT_TRUE(Sync(AgentReport("node-a")).ok());
  grpc::ClientContext context, missing;
  v1::DrainNodeRequest request;
  request.set_node("node-a");
  request.set_within_seconds(30);
  v1::Node node;
  ASSERT_TRUE(users_->DrainNode(&context, request, &node).ok());
  EXPECT_THAT(node.state(), testing::AnyOf("draining", "drained"));
  request.set_node("none");
  EXPECT_EQ(users_->DrainNode(&missing, request, &node).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(UserServiceTest, WatchShowsTheNewestUntilTheEnd) {
  Start();
  const auto job = Submit(JobNamed("job"));
  ASSERT_TRUE(job.ok());
  grpc::ClientContext context;
  SetDeadline(context);
  v1::WatchJobRequest request;
  request.set_job("job");
  auto stream = users_->WatchJob(&context, request);
  v1::Job seen;
  ASSERT_TRUE(stream->Read(&seen));
  EXPECT_EQ(seen.uid(), job->uid());
  ASSERT_TRUE(Cancel("job").ok());
  while (stream->Read(&seen)) {
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(seen.status().state(), v1::CANCELLED);

  grpc::ClientContext none_context;
  request.set_job("none");
  EXPECT_EQ(users_->WatchJob(&none_context, request)->Finish().error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(UserServiceTest, EventsResumeAndFollow) {
  Start();
  ASSERT_TRUE(Submit(JobNamed("a")).ok());
  const std::vector<v1::Event> first = Events("");
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(first[0].kind(), "submitted");
  EXPECT_GT(first[0].at(), 1.7e9);

  grpc::ClientContext context;
  SetDeadline(context);
  v1::ListEventsRequest request;
  request.set_after_revision(first.back().revision());
  request.set_follow(true);
  auto stream = users_->ListEvents(&context, request);
  ASSERT_TRUE(Submit(JobNamed("b")).ok());
  v1::Event event;
  ASSERT_TRUE(stream->Read(&event));
  EXPECT_EQ(event.job(), "b");
  EXPECT_GT(event.revision(), first.back().revision());
  context.TryCancel();
  while (stream->Read(&event)) {
  }
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);

  for (const v1::Event& only : Events("b")) EXPECT_EQ(only.job(), "b");
  Restart();
  EXPECT_EQ(Events("a").at(0).revision(), first[0].revision());
}

TEST_F(UserServiceTest, StreamsEndWhenTheCoordinatorStops) {
  Start();
  grpc::ClientContext context;
  SetDeadline(context);
  v1::ListEventsRequest request;
  request.set_follow(true);
  auto stream = users_->ListEvents(&context, request);
  ASSERT_TRUE(Submit(JobNamed("a")).ok());
  v1::Event event;
  ASSERT_TRUE(stream->Read(&event));
  server_->Stop();
  while (stream->Read(&event)) {
  }
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(UserServiceTest, OneCoordinatorAFolderAndAPort) {
  Start();
  const auto same_folder = CoordinatorServer::Start(options_);
  EXPECT_THAT(std::string(same_folder.status().message()), HasSubstr("in use by the coordinator with pid"));
  CoordinatorServer::Options same_port = options_;
  same_port.data = folder_ + "/other";
  same_port.rpc.listen = server_->address();
  EXPECT_THAT(std::string(CoordinatorServer::Start(same_port).status().message()), HasSubstr("is in use"));
  same_port.rpc.listen = "0.0.0.0:0";
  EXPECT_THAT(std::string(CoordinatorServer::Start(same_port).status().message()), HasSubstr("--tls-cert"));
  std::ifstream endpoint(folder_ + "/data/endpoint");
  std::string line;
  EXPECT_TRUE(std::getline(endpoint, line));
  EXPECT_EQ(line, server_->address());
}

TEST_F(UserServiceTest, MessagesOverTheLimitAreRefused) {
  Start();
  v1::Job job = JobNamed("job");
  job.mutable_spec()->mutable_data()->add_text(std::string(common::kMaxMessageBytes, 'x'));
  EXPECT_EQ(Submit(job).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Submit(JobNamed("job")).ok());
}

TEST_F(UserServiceTest, ADiskThatIsNearlyFullTakesNoNewJobs) {
  std::atomic<int64_t> free = 6 << 20;
  options_.disk_space = [&](const std::string&) { return DiskSpace{free, 100 << 20}; };
  Start();
  ASSERT_TRUE(Submit(JobNamed("a"), "id-a").ok());
  free = 4 << 20;
  const auto refused = Submit(JobNamed("b"), "id-b");
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("4.0 % free (4 MiB)"));
  EXPECT_TRUE(Submit(JobNamed("a"), "id-a").ok()) << "a repetition is answered as the first was";
  EXPECT_TRUE(Sync(AgentReport("n1")).ok());
  EXPECT_TRUE(Cancel("a").ok());
  free = 6 << 20;
  EXPECT_TRUE(Submit(JobNamed("b"), "id-b").ok()) << "what was refused has not used the id up";
}

TEST_F(UserServiceTest, TokenGuardsEveryService) {
  std::ofstream(folder_ + "/token") << "0123456789abcdef";
  options_.rpc.security.token_file = folder_ + "/token";
  Start();
  EXPECT_EQ(Get("job").status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Sync(AgentReport("a")).status().code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Sync(v1::TrainerReport()).status().code(), absl::StatusCode::kUnauthenticated);
  auto channel = common::Connect(server_->address(), {options_.rpc.security});
  ASSERT_TRUE(channel.ok());
  nodes_ = v1::Nodes::NewStub(*channel);
  EXPECT_TRUE(Sync(AgentReport("a")).ok());
}

}  // namespace
}  // namespace rekindle::coordinator
