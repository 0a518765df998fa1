// Tests the life of trainers under rekindle-worker: how they are started, restarted, adopted and distinguished.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/agreed/exit_codes.h"
#include "common/rpc/rpc.h"
#include "common/time/clock.h"
#include "rekindle/v1/checkpoint.grpc.pb.h"
#include "rekindle/v1/node_local.grpc.pb.h"
#include "worker/agent/folder/small_file.h"
#include "worker/agent/init/init.h"
#include "worker/agent/testing/agent_fixture.h"

namespace rekindle::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(AgentTest, StartsWhatIsWantedAndKeepsTheSecret) {
  Want("steady");
  StartInit();
  const v1::NodeReport report = WaitRunning();
  EXPECT_EQ(report.node(), "n1");
  EXPECT_EQ(report.incarnation().size(), 32u);
  EXPECT_THAT(Running(report)->trainer(), ::testing::MatchesRegex("n1/0/[0-9a-f]{8}"));
  EXPECT_FALSE(Running(report)->adopted());
  EXPECT_TRUE(WaitLine(Running(report)->trainer(), "attached"));

  const std::string proc = absl::StrCat("/proc/", Record().process.pid);
  EXPECT_THAT(ReadText(proc + "/cmdline"), HasSubstr(dir_ + "/jobs/uid-steady/0.pb"));
  EXPECT_THAT(ReadText(proc + "/cmdline"), Not(HasSubstr(kSecret)));
  EXPECT_THAT(ReadText(proc + "/environ"), Not(HasSubstr(kSecret)));
  EXPECT_THAT(ReadText(proc + "/environ"), HasSubstr("OMP_NUM_THREADS=3"));
  struct stat info = {};
  ASSERT_EQ(stat((dir_ + "/jobs/uid-steady/0.pb").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(stat(dir_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(AgentTest, ReportsAnExitAtOnceAndStartsAgain) {
  Want("steady");
  StartInit();
  std::string first;
  // The agent must report within 0.1 s that a trainer was killed. The test takes the fastest of a few tries, because a
  // busy machine may delay any of them.
  double fastest = HUGE_VAL;
  for (int i = 0; i < 3 && fastest > 0.1; ++i) {
    first = Running(WaitRunning("", first))->trainer();
    const double killed_at = common::SteadySeconds();
    ASSERT_TRUE(Record().process.SendSignal(SIGKILL).ok());
    const auto exit = coordinator_.WaitFor([&](const v1::NodeReport& r) { return Ended(r, first) != nullptr; });
    ASSERT_TRUE(exit.has_value());
    EXPECT_EQ(Ended(*exit, first)->exit_code(), -SIGKILL);
    EXPECT_EQ(Ended(*exit, first)->exit_reason(), "killed by signal 9 (Killed)");
    fastest = std::min(fastest, coordinator_.found_at() - killed_at);
  }
  EXPECT_LT(fastest, 0.1);
  WaitRunning("", first);
  // The agent reports the trainer's exit again and again until it is acknowledged.
  EXPECT_TRUE(coordinator_.WaitFor([&](const v1::NodeReport& r) { return Ended(r, first) != nullptr; }).has_value());
  v1::NodeDirective directive = coordinator_.directive();
  directive.add_acknowledged_exits(first);
  coordinator_.Direct(directive);
  EXPECT_TRUE(coordinator_.WaitFor([&](const v1::NodeReport& r) { return Ended(r, first) == nullptr; }).has_value());
  for (const std::string& left : ListFolder(dir_ + "/ended")) EXPECT_THAT(left, Not(HasSubstr(first.substr(5))));
}

TEST_F(AgentTest, ACleanExitRunsAgainOnlyWhenStillWantedAfterItWasHeard) {
  Want("finishes");
  StartInit();
  const auto exit =
      coordinator_.WaitFor([](const v1::NodeReport& r) { return r.trainers_size() == 1 && !r.trainers(0).running(); });
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(exit->trainers(0).exit_code(), 0);
  const std::string first = exit->trainers(0).trainer();
  v1::NodeDirective directive = coordinator_.directive();
  directive.add_acknowledged_exits(first);
  coordinator_.Direct(directive);
  const auto second = coordinator_.WaitFor(
      [&](const v1::NodeReport& r) { return r.trainers_size() == 1 && r.trainers(0).trainer() != first; });
  EXPECT_TRUE(second.has_value());
  for (const v1::NodeReport& report : coordinator_.reports()) EXPECT_LE(report.trainers_size(), 1);
}

TEST_F(AgentTest, AKilledAgentComesBackAndAdopts) {
  Want("steady");
  StartInit();
  const v1::NodeReport before = WaitRunning();
  const TrainerRecord record = Record();
  std::string agent = before.agent_incarnation();
  // When an agent was killed, the next one must report the adopted trainer within 1 s. The test takes the fastest of a
  // few tries, because a busy machine may delay any of them.
  double fastest = HUGE_VAL;
  for (int i = 0; i < 3 && fastest > 1; ++i) {
    const double killed_at = common::SteadySeconds();
    ASSERT_TRUE(AgentProcess().SendSignal(SIGKILL).ok());
    const v1::NodeReport after = WaitRunning(agent);
    fastest = std::min(fastest, coordinator_.found_at() - killed_at);
    agent = after.agent_incarnation();
    EXPECT_EQ(after.incarnation(), before.incarnation());
    EXPECT_EQ(Running(after)->trainer(), Running(before)->trainer());
    EXPECT_TRUE(Running(after)->adopted());
  }
  EXPECT_LT(fastest, 1);
  EXPECT_TRUE(record.process.Alive());

  // The agent learns the exit of an adopted trainer through init.
  ASSERT_TRUE(record.process.SendSignal(SIGKILL).ok());
  const auto exit = coordinator_.WaitFor([&](const v1::NodeReport& r) { return Ended(r, record.trainer) != nullptr; });
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(Ended(*exit, record.trainer)->exit_code(), -SIGKILL);
  WaitRunning("", record.trainer);
}

TEST_F(AgentTest, AnExitWhileTheAgentIsAwayIsReportedByTheNext) {
  Want("steady");
  StartInit();
  WaitRunning();
  const TrainerRecord record = Record();
  const common::ProcessIdentity agent = AgentProcess();
  // SIGSTOP keeps the agent from noticing that its trainer ends. Only init and the next agent can notice it.
  ASSERT_TRUE(agent.SendSignal(SIGSTOP).ok());
  ASSERT_TRUE(record.process.SendSignal(SIGKILL).ok());
  ASSERT_TRUE(agent.SendSignal(SIGKILL).ok());
  const auto exit = coordinator_.WaitFor([&](const v1::NodeReport& r) { return Ended(r, record.trainer) != nullptr; });
  ASSERT_TRUE(exit.has_value());
  EXPECT_EQ(Ended(*exit, record.trainer)->exit_code(), -SIGKILL);
  WaitRunning("", record.trainer);
}

TEST_F(AgentTest, TwoSlotsAndAStopOfOne) {
  v1::NodeDirective directive;
  *directive.add_trainers() = Desired("steady", 0);
  *directive.add_trainers() = Desired("stubborn", 1);
  // The node has only slots 0 and 1, so the agent must ignore the trainer that the directive wants in slot 2.
  *directive.add_trainers() = Desired("steady", 2);
  directive.mutable_trainers(2)->set_job_uid("../escape");
  coordinator_.Direct(directive);
  StartInit({"--slots", "2", "--stop-grace-seconds", "0.3"});
  const auto both = coordinator_.WaitFor([](const v1::NodeReport& r) { return Running(r, 0) && Running(r, 1); });
  ASSERT_TRUE(both.has_value());
  const std::string stubborn = Running(*both, 1)->trainer();
  // The stubborn trainer ignores SIGTERM once it has printed "attached".
  ASSERT_TRUE(WaitLine(stubborn, "attached"));
  Want("steady");
  const auto stopped = coordinator_.WaitFor([&](const v1::NodeReport& r) { return Ended(r, stubborn) != nullptr; });
  ASSERT_TRUE(stopped.has_value());
  EXPECT_EQ(Ended(*stopped, stubborn)->exit_code(), -SIGKILL);
  EXPECT_THAT(Ended(*stopped, stubborn)->exit_reason(), HasSubstr("told to stop: no longer wanted here"));
  EXPECT_NE(Running(*stopped, 0), nullptr);
  EXPECT_FALSE(std::filesystem::exists(dir_ + "/jobs/uid-stubborn"));
}

TEST_F(AgentTest, TrainersOutliveTheCoordinatorAndItsRestart) {
  Want("steady");
  StartInit();
  const std::string trainer = Running(WaitRunning())->trainer();
  // When the coordinator is back, the agent must report to it within 1 s. The test takes the fastest of a few tries,
  // because a busy machine may delay any of them.
  double fastest = HUGE_VAL;
  for (int i = 0; i < 3 && fastest > 1; ++i) {
    coordinator_.Stop();
    const size_t seen = coordinator_.reports().size();
    ASSERT_TRUE(coordinator_.Start().ok());
    const double back_at = common::SteadySeconds();
    const auto fresh = coordinator_.WaitFor(seen, [](const v1::NodeReport&) { return true; });
    ASSERT_TRUE(fresh.has_value());
    fastest = std::min(fastest, coordinator_.found_at() - back_at);
    ASSERT_NE(Running(*fresh), nullptr);
    EXPECT_EQ(Running(*fresh)->trainer(), trainer);
  }
  EXPECT_LT(fastest, 1);
}

TEST_F(AgentTest, InitWritesDownNoEndOfAnotherUsersProcess) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a process of another user";
  Want("strays");
  StartInit();
  const std::string trainer = Running(WaitRunning())->trainer();
  ASSERT_TRUE(WaitLine(trainer, "the stray is gone"));
  EXPECT_TRUE(std::filesystem::is_empty(dir_ + "/exits")) << "the records are for trainers";
}

TEST_F(AgentTest, AReusedPidIsNotAdopted) {
  common::SpawnOptions options;
  options.argv = {"/bin/sleep", "600"};
  auto stranger = common::PendingChild::Start(options);
  ASSERT_TRUE(stranger.ok());
  stranger->Release();
  TrainerRecord record = {.trainer = "n1/0/0badcafe",
                          .job_uid = "uid-steady",
                          .job_name = "steady",
                          .process = stranger->identity(),
                          .boot_id = common::BootId(),
                          .log = dir_ + "/logs/steady-0.log"};
  record.process.start_time_ticks -= 1;
  std::filesystem::create_directories(dir_ + "/trainers");
  std::ofstream(dir_ + "/trainers/0.json") << ToJson(record);
  // The directive wants no trainer. If the agent took the process `stranger`, which has the pid of the recorded
  // trainer, for that trainer, it would stop `stranger`.
  coordinator_.Direct({});
  StartInit();
  const auto report =
      coordinator_.WaitFor([](const v1::NodeReport& r) { return Ended(r, "n1/0/0badcafe") != nullptr; });
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(Running(*report), nullptr);
  EXPECT_EQ(Ended(*report, "n1/0/0badcafe")->exit_code(), 255);
  EXPECT_FALSE(std::filesystem::exists(dir_ + "/trainers/0.json"));
  EXPECT_TRUE(stranger->identity().Alive());
}

TEST_F(AgentTest, AttachNeedsIdProcessAndSecret) {
  Want("stubborn");
  StartInit();
  WaitRunning();
  const TrainerRecord record = Record();
  const auto channel = common::Connect("unix:" + dir_ + "/agent.sock", {.security = {}});
  ASSERT_TRUE(channel.ok());
  const auto stub = v1::NodeLocal::NewStub(*channel);
  v1::AttachRequest good;
  good.set_trainer(record.trainer);
  good.set_job_uid(record.job_uid);
  good.set_job_secret(kSecret);
  good.set_pid(record.process.pid);
  good.set_start_time_ticks(static_cast<double>(record.process.start_time_ticks));
  const auto attach = [&](const v1::AttachRequest& request) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(5));
    v1::AttachReply reply;
    const grpc::Status status = stub->Attach(&context, request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  };
  EXPECT_FALSE(attach(good).stop());
  v1::AttachRequest bad = good;
  bad.set_job_secret("another secret");
  EXPECT_TRUE(attach(bad).stop());
  EXPECT_EQ(attach(bad).reason(), "the job or its secret does not match");
  bad.clear_job_secret();
  EXPECT_TRUE(attach(bad).stop());
  bad = good;
  bad.set_job_uid("uid-other");
  EXPECT_TRUE(attach(bad).stop());
  bad = good;
  bad.set_pid(getpid());
  EXPECT_TRUE(attach(bad).stop());
  bad = good;
  bad.set_trainer("n1/0/00000000");
  EXPECT_TRUE(attach(bad).stop());
}

TEST_F(AgentTest, ATrainerThatSaysSoHasDiedForWantOfMemory) {
  Want("out-of-memory");
  StartInit();
  EXPECT_TRUE(coordinator_.WaitFor([](const v1::NodeReport& r) {
    return std::any_of(r.trainers().begin(), r.trainers().end(), [](const v1::TrainerProcess& process) {
      return process.out_of_memory() && process.exit_code() == common::kExitOutOfMemory;
    });
  }));
}

TEST_F(AgentTest, WhyATrainerCannotStartIsReportedAsLongAsItIsWanted) {
  v1::DesiredTrainer desired = Desired("own");
  desired.mutable_spec()->mutable_model()->set_python("train:task");
  desired.mutable_spec()->mutable_model()->set_bundle(std::string(64, 'a'));
  v1::NodeDirective directive;
  *directive.add_trainers() = desired;
  coordinator_.Direct(directive);
  StartInit();
  const auto report = coordinator_.WaitFor([](const v1::NodeReport& r) { return r.start_troubles_size() > 0; });
  ASSERT_TRUE(report.has_value());
  ASSERT_EQ(report->start_troubles_size(), 1);
  EXPECT_EQ(report->start_troubles(0).job_uid(), desired.job_uid());
  EXPECT_EQ(report->start_troubles(0).words(), "there is no such bundle here");
  coordinator_.Direct({});
  EXPECT_TRUE(coordinator_.WaitFor([](const v1::NodeReport& r) { return r.start_troubles_size() == 0; }).has_value());
}

TEST_F(AgentTest, OneAgentAFolder) {
  StartInit();
  ASSERT_TRUE(coordinator_.WaitFor([](const v1::NodeReport&) { return true; }).has_value());
  const Worker second = Worker::Start("agent", Flags());
  EXPECT_EQ(second.Wait(), kExitRefused);
}

class CheckpointService final : public v1::Checkpoints::Service {
  grpc::Status GetInfo(grpc::ServerContext*, const v1::GetInfoRequest*, v1::GetInfoReply* reply) override {
    reply->set_incarnation("store-1");
    return grpc::Status::OK;
  }
};

TEST_F(AgentTest, ReportsTheCheckpointServiceWhileItLives) {
  CheckpointService service;
  auto server = common::Server::Start({.listen = "unix:" + dir_ + "/checkpoint.sock", .security = {}}, {&service});
  ASSERT_TRUE(server.ok()) << server.status();
  StartInit();
  const auto is = [](const std::string& incarnation) {
    return [=](const v1::NodeReport& r) { return r.checkpoint_incarnation() == incarnation; };
  };
  EXPECT_TRUE(coordinator_.WaitFor(is("store-1")).has_value());
  server->reset();
  EXPECT_TRUE(coordinator_.WaitFor(is("")).has_value());
}

}  // namespace
}  // namespace rekindle::agent
