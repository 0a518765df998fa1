// Runs rekindle-worker as real processes in tests, with a coordinator and trainers that belong to the tests.
#ifndef REKINDLE_WORKER_AGENT_TESTING_AGENT_FIXTURE_H_
#define REKINDLE_WORKER_AGENT_TESTING_AGENT_FIXTURE_H_

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "common/process/process.h"
#include "common/testing/temporary_folder_testing.h"
#include "worker/agent/folder/trainer_record.h"
#include "worker/agent/program/options.h"
#include "worker/agent/testing/fake_coordinator.h"

namespace rekindle::agent {

inline constexpr char kSecret[] = "a secret of the job";

inline std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline const v1::TrainerProcess* Running(const v1::NodeReport& report, int slot = 0) {
  for (const v1::TrainerProcess& trainer : report.trainers()) {
    if (trainer.running() && trainer.slot() == slot) return &trainer;
  }
  return nullptr;
}

inline const v1::TrainerProcess* Ended(const v1::NodeReport& report, const std::string& trainer) {
  for (const v1::TrainerProcess& process : report.trainers()) {
    if (!process.running() && process.trainer() == trainer) return &process;
  }
  return nullptr;
}

// Holds a rekindle-worker process that the test started, and collects its exit.
class Worker {
 public:
  static Worker Start(const std::string& command, const std::vector<std::string>& flags) {
    const std::filesystem::path programs = std::filesystem::path(OwnProgram()).parent_path();
    common::SpawnOptions options;
    options.argv = {programs / "rekindle-worker",   command, "--node", "n1", "--trainer-binary",
                    programs / "agent_fake_trainer"};
    options.argv.insert(options.argv.end(), flags.begin(), flags.end());
    for (char** entry = environ; *entry != nullptr; ++entry) options.environment.push_back(*entry);
    // The program starts with SIGTERM blocked, because a test may send it before the program is ready to take it.
    options.blocked_signals = {SIGTERM};
    auto child = common::PendingChild::Start(options);
    EXPECT_TRUE(child.ok()) << child.status();
    auto process = common::Process::Open(child->identity());
    child->Release();
    return Worker(*std::move(process));
  }

  const common::ProcessIdentity& identity() const { return process_.identity(); }
  void Signal(int signal) const { process_.Signal(signal).IgnoreError(); }
  // Returns the exit code of the worker process, or -1000 if it still runs after `seconds`.
  int Wait(double seconds = 10) const {
    pollfd p = {.fd = process_.fd(), .events = POLLIN, .revents = 0};
    if (poll(&p, 1, static_cast<int>(seconds * 1000)) != 1) return -1000;
    return process_.Reap()->code;
  }

 private:
  explicit Worker(common::Process process) : process_(std::move(process)) {}
  common::Process process_;
};

class AgentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // As a subreaper, the test becomes the parent of processes that a worker leaves behind, so that TearDown finds them
    // all.
    ASSERT_TRUE(common::BecomeSubreaper().ok());
    ASSERT_TRUE(coordinator_.Start().ok());
  }

  void TearDown() override {
    worker_.reset();
    for (;;) {
      const std::vector<pid_t> children = common::Children();
      if (children.empty()) break;
      for (const pid_t child : children) kill(child, SIGKILL);
      for (const pid_t child : children) waitpid(child, nullptr, 0);
    }
    coordinator_.Stop();
  }

  std::vector<std::string> Flags(std::vector<std::string> more = {}) const {
    std::vector<std::string> flags = {"--dir", dir_, "--coordinator", coordinator_.address()};
    // By default no source of interruption notices is used, so that the machine that runs the tests has no influence.
    if (std::find(more.begin(), more.end(), "--notices") == more.end()) more.insert(more.end(), {"--notices", "none"});
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }
  void StartInit(std::vector<std::string> more = {}) { worker_ = Worker::Start("init", Flags(std::move(more))); }

  v1::DesiredTrainer Desired(const std::string& job, int slot = 0) const {
    v1::DesiredTrainer desired;
    desired.set_job_uid("uid-" + job);
    desired.set_job_name(job);
    desired.set_slot(slot);
    desired.set_job_secret(kSecret);
    desired.mutable_spec()->mutable_workers()->set_threads_per_rank(3);
    return desired;
  }
  void Want(const std::string& job) {
    v1::NodeDirective directive;
    *directive.add_trainers() = Desired(job);
    coordinator_.Direct(directive);
  }

  TrainerRecord Record(int slot = 0) const {
    auto record = FromJson(ReadText(absl::StrCat(dir_, "/trainers/", slot, ".json")));
    EXPECT_TRUE(record.ok()) << record.status();
    return record.value_or(TrainerRecord{});
  }

  // Returns the first report of another agent than `other_than_agent` that shows a running trainer other than
  // `other_than_trainer` in slot 0. If none comes, an exception fails the test, so the result of Running() may be
  // dereferenced.
  v1::NodeReport WaitRunning(const std::string& other_than_agent = "", const std::string& other_than_trainer = "") {
    const auto report = coordinator_.WaitFor([&](const v1::NodeReport& r) {
      return Running(r) != nullptr && r.agent_incarnation() != other_than_agent &&
             Running(r)->trainer() != other_than_trainer;
    });
    if (!report) throw std::runtime_error("no trainer was reported");
    return *report;
  }

  bool WaitLine(const std::string& trainer, const std::string& line) { return coordinator_.WaitLine(trainer, line); }

  // Returns the process of the agent that belongs to this test's folder.
  common::ProcessIdentity AgentProcess() const {
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string command = ReadText(entry.path() / "cmdline");
      const bool agent = command.find(std::string("rekindle-worker\0agent\0", 22)) != std::string::npos;
      if (agent && command.find(dir_) != std::string::npos) return *common::Identify(std::stoi(name));
    }
    throw std::runtime_error("no agent runs");
  }

  common::TemporaryFolder temporary_;
  const std::string dir_ = temporary_.path();
  FakeCoordinator coordinator_;
  std::optional<Worker> worker_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_TESTING_AGENT_FIXTURE_H_
