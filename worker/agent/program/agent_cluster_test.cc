// Tests which cluster an agent obeys: the first one that it hears of, in its newest epoch, until an operator makes the
// agent forget that cluster.
#include <gmock/gmock.h>

#include "absl/strings/match.h"
#include "common/agreed/cluster_identity.h"
#include "common/rpc/rpc.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "rekindle/v1/checkpoint.grpc.pb.h"
#include "worker/agent/program/forget_cluster.h"
#include "worker/agent/testing/agent_fixture.h"

namespace rekindle::agent {
namespace {

using testing::HasSubstr;

const common::ClusterIdentity kOurs = {"00112233445566778899aabbccddeeff", 2, 7};
const common::ClusterIdentity kOurPast = {"00112233445566778899aabbccddeeff", 1, 9};
const common::ClusterIdentity kOurFuture = {"00112233445566778899aabbccddeeff", 3, 1};
const common::ClusterIdentity kOther = {"ffeeddccbbaa99887766554433221100", 5, 1};

class AgentClusterTest : public AgentTest {
 protected:
  // Lets the coordinator direct the node under the given identity. If `job` is empty, no trainer has to run.
  void DirectAs(const common::ClusterIdentity& identity, const std::string& job) {
    v1::NodeDirective directive;
    common::ToMessage(identity, directive.mutable_identity());
    if (!job.empty()) {
      *directive.add_trainers() = Desired(job);
      common::ToMessage(identity, directive.mutable_trainers(0)->mutable_identity());
    }
    coordinator_.Direct(directive);
  }
  // Waits until `count` more calls of the agent have been answered with the last directive.
  bool AwaitCalls(size_t count) {
    const size_t seen = coordinator_.reports().size();
    return coordinator_.WaitFor(seen + count - 1, [](const v1::NodeReport&) { return true; }).has_value();
  }
  static bool Obeys(const v1::NodeReport& report, const common::ClusterIdentity& identity) {
    return common::FromMessage(report.obeys()) == identity;
  }
};

TEST_F(AgentClusterTest, OfAnotherClusterOrOfThePastNothingIsObeyed) {
  DirectAs(kOurs, "steady");
  StartInit();
  const std::string trainer = Running(WaitRunning())->trainer();
  for (const common::ClusterIdentity& stranger : {kOther, kOurPast, common::ClusterIdentity()}) {
    DirectAs(stranger, "");
    ASSERT_TRUE(AwaitCalls(3));
    const v1::NodeReport report = coordinator_.reports().back();
    ASSERT_NE(Running(report), nullptr) << common::Describe(stranger);
    EXPECT_EQ(Running(report)->trainer(), trainer);
    EXPECT_TRUE(Obeys(report, kOurs)) << report.obeys().DebugString();
  }
  DirectAs(kOurFuture, "steady");
  ASSERT_TRUE(coordinator_.WaitFor([](const v1::NodeReport& r) { return Obeys(r, kOurFuture); }));
  DirectAs(kOurs, "");
  ASSERT_TRUE(AwaitCalls(3));
  EXPECT_NE(Running(coordinator_.reports().back()), nullptr) << "a later epoch was heard of";
  DirectAs(kOurFuture, "");
  EXPECT_TRUE(coordinator_.WaitFor([](const v1::NodeReport& r) { return Running(r) == nullptr; }));
}

TEST_F(AgentClusterTest, TheNextAgentOfTheFolderRemembers) {
  DirectAs(kOurs, "steady");
  StartInit();
  const v1::NodeReport first = WaitRunning();
  const std::string trainer = Running(first)->trainer();
  DirectAs(kOther, "");
  kill(AgentProcess().pid, SIGKILL);
  const auto next =
      coordinator_.WaitFor([&](const v1::NodeReport& r) { return r.agent_incarnation() != first.agent_incarnation(); });
  ASSERT_TRUE(next);
  EXPECT_TRUE(Obeys(*next, kOurs));
  ASSERT_TRUE(AwaitCalls(3));
  ASSERT_NE(Running(coordinator_.reports().back()), nullptr);
  EXPECT_EQ(Running(coordinator_.reports().back())->trainer(), trainer);
}

TEST_F(AgentClusterTest, AClusterIsForgottenWhereNothingRuns) {
  EXPECT_TRUE(absl::IsNotFound(ForgetCluster(dir_ + "/nothing")));
  EXPECT_TRUE(absl::IsNotFound(ForgetCluster(dir_))) << "no agent has made it a node's yet";
  DirectAs(kOurs, "steady");
  StartInit();
  WaitRunning();
  absl::Status refused = ForgetCluster(dir_);
  EXPECT_TRUE(absl::IsFailedPrecondition(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("stop rekindle-worker first"));

  const int agent = AgentProcess().pid;
  // The test kills init, and the agent too, which may already be ending because its init is gone. The trainer runs on.
  worker_->Signal(SIGKILL);
  kill(agent, SIGKILL);
  worker_->Wait();
  const auto agent_gone = [&] {
    refused = ForgetCluster(dir_);
    return !absl::StrContains(refused.message(), "stop rekindle-worker first");
  };
  const double until = common::SteadySeconds() + 10;
  while (!agent_gone() && common::SteadySeconds() < until) std::this_thread::yield();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("still runs, as process"));
  kill(Record().process.pid, SIGKILL);
  while (common::Process::Open(Record().process).ok() && common::SteadySeconds() < until) {
    waitpid(Record().process.pid, nullptr, WNOHANG);
  }
  const absl::Status freed = ForgetCluster(dir_);
  ASSERT_TRUE(freed.ok()) << freed;

  DirectAs(kOther, "");
  StartInit();
  EXPECT_TRUE(coordinator_.WaitFor([](const v1::NodeReport& r) { return Obeys(r, kOther); }));
}

TEST_F(AgentClusterTest, WhatTheCoordinatorDoesNotKnowGoesOnAndIsTold) {
  DirectAs(kOurs, "steady");
  StartInit();
  const std::string trainer = Running(WaitRunning())->trainer();
  v1::NodeDirective directive;
  common::ToMessage(kOurs, directive.mutable_identity());
  directive.add_leave_alone("uid-steady");
  coordinator_.Direct(directive);
  const auto told = coordinator_.WaitFor([](const v1::NodeReport& r) { return r.left_alone_size() > 0; });
  ASSERT_TRUE(told);
  v1::DesiredTrainer wanted = Desired("steady");
  common::ToMessage(kOurs, wanted.mutable_identity());
  ASSERT_EQ(told->left_alone_size(), 1);
  EXPECT_EQ(told->left_alone(0).SerializeAsString(), wanted.SerializeAsString());
  ASSERT_TRUE(AwaitCalls(3));
  ASSERT_NE(Running(coordinator_.reports().back()), nullptr);
  EXPECT_EQ(Running(coordinator_.reports().back())->trainer(), trainer);
}

// Is a checkpoint service that returns the job file that the test sets, and notes for which job it was asked for one.
class StoreOfJobs final : public v1::Checkpoints::Service {
 public:
  void Put(const std::string& job_file) {
    const common::MutexLock lock(mutex_);
    job_file_ = job_file;
  }
  std::string asked() {
    const common::MutexLock lock(mutex_);
    return asked_;
  }

 private:
  grpc::Status GetInfo(grpc::ServerContext*, const v1::GetInfoRequest*, v1::GetInfoReply* reply) override {
    reply->set_incarnation("store-1");
    return grpc::Status::OK;
  }
  grpc::Status ReadJobFile(grpc::ServerContext*, const v1::ReadJobFileRequest* request,
                           v1::ReadJobFileReply* reply) override {
    const common::MutexLock lock(mutex_);
    asked_ = request->store() + "/" + request->job_uid();
    if (job_file_.empty()) return {grpc::StatusCode::NOT_FOUND, "nothing"};
    reply->set_job_file(job_file_);
    reply->set_generation(5);
    return grpc::Status::OK;
  }

  common::Mutex mutex_;
  std::string job_file_ ABSL_GUARDED_BY(mutex_);
  std::string asked_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(AgentClusterTest, WhatAStoreHasOfAJobIsToldWhereItIsAskedFor) {
  StoreOfJobs service;
  const auto server =
      common::Server::Start({.listen = "unix:" + dir_ + "/checkpoint.sock", .security = {}}, {&service});
  ASSERT_TRUE(server.ok()) << server.status();
  v1::NodeDirective directive;
  *directive.add_trainers() = Desired("steady");
  directive.mutable_trainers(0)->mutable_spec()->mutable_checkpoint()->set_store("file:///of-jobs");
  coordinator_.Direct(directive);
  StartInit();
  WaitRunning();
  directive.Clear();
  directive.add_leave_alone("uid-steady");
  coordinator_.Direct(directive);
  ASSERT_TRUE(coordinator_.WaitFor([](const v1::NodeReport& r) { return r.left_alone_size() > 0; }));
  ASSERT_TRUE(AwaitCalls(3));
  EXPECT_EQ(service.asked(), "") << "nobody asked for it";

  directive.add_read_stored("uid-steady");
  directive.add_read_stored("uid-of-another-node");
  coordinator_.Direct(directive);
  const auto told = [](const auto& is) {
    return [is](const v1::NodeReport& r) { return r.stored_jobs_size() == 1 && is(r.stored_jobs(0)); };
  };
  ASSERT_TRUE(coordinator_.WaitFor(told([](const v1::StoredJob& job) {
    return job.job_uid() == "uid-steady" && job.job_file().empty() && job.problem() == "there is no job.json";
  })));
  EXPECT_EQ(service.asked(), "file:///of-jobs/uid-steady");

  service.Put("a file");
  directive.clear_read_stored();
  coordinator_.Direct(directive);
  ASSERT_TRUE(coordinator_.WaitFor([](const v1::NodeReport& r) { return r.stored_jobs_size() == 0; }));
  directive.add_read_stored("uid-steady");
  coordinator_.Direct(directive);
  EXPECT_TRUE(coordinator_.WaitFor(told([](const v1::StoredJob& job) {
    return job.job_file() == "a file" && job.generation() == 5 && job.problem().empty();
  })));
}

TEST_F(AgentClusterTest, OneThatWasSupersededIsNotObeyed) {
  DirectAs(kOurs, "steady");
  StartInit();
  WaitRunning();
  v1::NodeDirective directive;
  common::ToMessage(kOurs, directive.mutable_identity());
  common::ToMessage(kOurFuture, directive.mutable_superseded_by());
  coordinator_.Direct(directive);
  ASSERT_TRUE(AwaitCalls(3));
  EXPECT_NE(Running(coordinator_.reports().back()), nullptr);
  EXPECT_TRUE(Obeys(coordinator_.reports().back(), kOurs)) << "it has heard of the later one from no coordinator of it";
}

TEST_F(AgentClusterTest, WhatIsNoIdentityIsNotTakenForOne) {
  DirectAs(kOurs, "steady");
  StartInit();
  WaitRunning();
  // The test kills both init and the agent, because two agents cannot run on one folder.
  const common::ProcessIdentity agent = AgentProcess();
  worker_->Signal(SIGKILL);
  kill(agent.pid, SIGKILL);
  worker_->Wait();
  std::ofstream(dir_ + "/cluster") << "somebody\n";
  const Worker again = Worker::Start("agent", Flags());
  EXPECT_EQ(again.Wait(), 1);
}

}  // namespace
}  // namespace rekindle::agent
