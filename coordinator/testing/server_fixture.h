// Runs a coordinator in the test's process on a port of its own. Scripted agents and trainers call it over real gRPC.
#ifndef REKINDLE_COORDINATOR_TESTING_SERVER_FIXTURE_H_
#define REKINDLE_COORDINATOR_TESTING_SERVER_FIXTURE_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <future>
#include <memory>
#include <string>

#include "common/agreed/version.h"
#include "common/testing/temporary_folder_testing.h"
#include "coordinator/server/assembly/coordinator_server.h"

namespace rekindle::coordinator {

class ServerFixture : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder_ + "/text.txt") << std::string(100'000, 'x');
    options_.data = folder_ + "/data";
    options_.metrics = "";
    options_.tunables.formation_seconds = 0;
  }
  void TearDown() override { server_.reset(); }

  void Start() {
    auto server = CoordinatorServer::Start(options_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    Connect();
  }
  void Connect() {
    auto channel = common::Connect(server_->address());
    ASSERT_TRUE(channel.ok()) << channel.status();
    channel_ = *channel;
    users_ = v1::Coordinator::NewStub(channel_);
    trainers_ = v1::Trainers::NewStub(channel_);
    nodes_ = v1::Nodes::NewStub(channel_);
  }
  void Restart() {
    server_.reset();
    Start();
  }

  static void SetDeadline(grpc::ClientContext& context, int seconds = 10) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(seconds));
  }

  v1::Job JobNamed(const std::string& name) {
    v1::Job job;
    job.set_name(name);
    job.mutable_spec()->mutable_data()->add_text(folder_ + "/text.txt");
    job.mutable_spec()->mutable_training()->set_steps(100);
    return job;
  }
  absl::StatusOr<v1::Job> Submit(const v1::Job& job, const std::string& request_id = "") {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::SubmitJobRequest request;
    *request.mutable_job() = job;
    request.set_request_id(request_id);
    return Checked<v1::Job>([&](v1::Job* reply) { return users_->SubmitJob(&context, request, reply); });
  }
  absl::StatusOr<v1::Job> Get(const std::string& name) {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::GetJobRequest request;
    request.set_job(name);
    return Checked<v1::Job>([&](v1::Job* reply) { return users_->GetJob(&context, request, reply); });
  }
  absl::StatusOr<v1::Job> Cancel(const std::string& name, const std::string& request_id = "") {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::JobRequest request;
    request.set_job(name);
    request.set_request_id(request_id);
    return Checked<v1::Job>([&](v1::Job* reply) { return users_->CancelJob(&context, request, reply); });
  }

  v1::NodeReport AgentReport(const std::string& node) {
    v1::NodeReport report;
    report.set_node(node);
    report.set_incarnation("folder-1");
    report.set_agent_incarnation("agent-1");
    report.set_protocol_version(common::kProtocolVersion);
    report.set_version(common::kVersion);
    report.set_slots(1);
    report.set_checkpoint_incarnation("checkpoint-1");
    return report;
  }
  absl::StatusOr<v1::NodeDirective> Sync(const v1::NodeReport& report, int deadline_seconds = 10) {
    grpc::ClientContext context;
    SetDeadline(context, deadline_seconds);
    return Checked<v1::NodeDirective>([&](v1::NodeDirective* reply) { return nodes_->Sync(&context, report, reply); });
  }

  // Returns the report of a fresh trainer that is ready to join.
  v1::TrainerReport TrainerReportFor(const v1::DesiredTrainer& desired, const std::string& node) {
    v1::TrainerReport report;
    report.set_job_uid(desired.job_uid());
    report.set_trainer(node + "/0/incarnation-1");
    report.set_node(node);
    report.set_job_secret(desired.job_secret());
    report.set_protocol_version(common::kProtocolVersion);
    report.set_sequence(1);
    report.set_address("127.0.0.1:1");
    report.set_host("host");
    report.set_phase(v1::TRAINER_READY);
    report.set_micro_batch_seconds(0.01);
    report.set_data_fingerprint("data");
    report.set_probe_digest("probe");
    return report;
  }
  absl::StatusOr<v1::TrainerDirective> Sync(const v1::TrainerReport& report, int deadline_seconds = 10) {
    grpc::ClientContext context;
    SetDeadline(context, deadline_seconds);
    return Checked<v1::TrainerDirective>(
        [&](v1::TrainerDirective* reply) { return trainers_->Sync(&context, report, reply); });
  }

  // Asks the coordinator, as a trainer does that renews its lease, whether it knows of no newer membership.
  absl::StatusOr<bool> Renew(const v1::TrainerReport& report, const v1::Membership& membership) {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::RenewLeaseRequest request;
    request.set_job_uid(report.job_uid());
    request.set_job_secret(report.job_secret());
    request.set_generation(membership.generation());
    request.set_digest(membership.digest());
    v1::RenewLeaseReply reply;
    const grpc::Status status = trainers_->RenewLease(&context, request, &reply);
    if (!status.ok()) return common::StatusFromGrpc(status);
    return reply.stands();
  }

  // Asks the coordinator for the job.json that belongs in the job's checkpoint store. `digest` is that of the job.json
  // that the trainer already has.
  absl::StatusOr<v1::RenewLeaseReply> AskForJobFile(const v1::TrainerReport& report, const std::string& digest = "") {
    grpc::ClientContext context;
    SetDeadline(context);
    v1::RenewLeaseRequest request;
    request.set_job_uid(report.job_uid());
    request.set_job_secret(report.job_secret());
    request.set_wants_job_file(true);
    request.set_job_file_digest(digest);
    return Checked<v1::RenewLeaseReply>(
        [&](v1::RenewLeaseReply* reply) { return trainers_->RenewLease(&context, request, reply); });
  }

  // Brings a new job with one node and one trainer to RUNNING in its first generation. Fills `report` with the
  // trainer's last report.
  v1::TrainerDirective RunOne(const std::string& job, v1::TrainerReport* report) {
    const auto submitted = Submit(JobNamed(job));
    EXPECT_TRUE(submitted.ok()) << submitted.status();
    auto node = Sync(AgentReport("node-a"));
    EXPECT_TRUE(node.ok()) << node.status();
    if (!node.ok() || node->trainers_size() != 1) {
      ADD_FAILURE() << "no trainer wanted: " << (node.ok() ? node->ShortDebugString() : "");
      return {};
    }
    *report = TrainerReportFor(node->trainers(0), "node-a");
    auto directive = Sync(*report);
    for (int i = 0; i < 50 && directive.ok() && directive->action() != v1::TrainerDirective::RUN; ++i) {
      report->set_sequence(report->sequence() + 1);
      report->set_known_revision(directive->revision());
      report->set_wait_ms(500);
      directive = Sync(*report);
    }
    EXPECT_TRUE(directive.ok()) << directive.status();
    if (!directive.ok()) return {};
    EXPECT_EQ(directive->action(), v1::TrainerDirective::RUN) << directive->ShortDebugString();
    report->set_sequence(report->sequence() + 1);
    report->set_known_revision(directive->revision());
    report->set_generation(directive->membership().generation());
    report->set_phase(v1::TRAINER_RUNNING);
    report->set_has_state(true);
    report->set_wait_ms(0);
    return *directive;
  }

  template <typename Reply, typename Call>
  static absl::StatusOr<Reply> Checked(Call call) {
    Reply reply;
    const grpc::Status status = call(&reply);
    if (!status.ok()) return common::StatusFromGrpc(status);
    return reply;
  }

  common::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  CoordinatorServer::Options options_{.rpc = {.listen = "127.0.0.1:0"}};
  std::unique_ptr<CoordinatorServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Coordinator::Stub> users_;
  std::unique_ptr<v1::Trainers::Stub> trainers_;
  std::unique_ptr<v1::Nodes::Stub> nodes_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_TESTING_SERVER_FIXTURE_H_
