// Tests how rekindle-worker notices the death of a trainer: by the life lock, before the kernel has freed the memory,
// and by the process descriptor if the lock says nothing.
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/process/life_lock.h"
#include "worker/agent/folder/small_file.h"
#include "worker/agent/testing/agent_fixture.h"

namespace rekindle::agent {
namespace {

// Holds the main thread of a process in the middle of its exit. The other threads have ended, so the life lock of the
// process is released, but the process descriptor does not show the end yet. The kernel causes a similar state while it
// frees gigabytes, and this class keeps it for as long as a test needs. REQUIRES: one thread makes all calls, because
// that thread is the tracer.
class Dying {
 public:
  explicit Dying(pid_t pid) : pid_(pid) { held_ = ptrace(PTRACE_SEIZE, pid, nullptr, PTRACE_O_TRACEEXIT) == 0; }
  ~Dying() {
    if (!held_) return;
    if (!stopped_) kill(pid_, SIGKILL);
    if (!stopped_) Await();
    LetGo();
  }
  bool held() const { return held_; }
  // Waits until the main thread has stopped in the middle of its exit.
  void Await() {
    while (!stopped_) {
      int status = 0;
      ASSERT_EQ(waitpid(pid_, &status, __WALL), pid_);
      ASSERT_TRUE(WIFSTOPPED(status));
      stopped_ = status >> 8 == (SIGTRAP | (PTRACE_EVENT_EXIT << 8));
      if (stopped_) return;
      // A signal to the traced process stops that process until the tracer passes the signal on.
      ASSERT_EQ(ptrace(PTRACE_CONT, pid_, nullptr, WSTOPSIG(status)), 0);
    }
  }
  void LetGo() {
    EXPECT_EQ(ptrace(PTRACE_DETACH, pid_, nullptr, nullptr), 0);
    held_ = false;
  }

 private:
  const pid_t pid_;
  bool held_ = false;
  bool stopped_ = false;
};

class AgentDeathTest : public AgentTest {
 protected:
  // Starts a trainer of `job` and waits until the trainer has attached to the agent, so that it holds its life lock.
  TrainerRecord StartTrainer(const std::string& job, std::vector<std::string> flags = {}) {
    Want(job);
    StartInit(std::move(flags));
    const v1::NodeReport report = WaitRunning();
    EXPECT_TRUE(WaitLine(Running(report)->trainer(), "attached"));
    return Record();
  }
  // Returns the exit code that the agent reports for the trainer.
  int ExitCodeOf(const TrainerRecord& record) {
    const auto exit =
        coordinator_.WaitFor([&](const v1::NodeReport& r) { return Ended(r, record.trainer) != nullptr; });
    if (!exit) throw std::runtime_error("no exit was reported");
    EXPECT_TRUE(Ended(*exit, record.trainer)->exit_seen());
    return Ended(*exit, record.trainer)->exit_code();
  }
  // Sends the directive again with a new revision, and returns the agent's next report.
  v1::NodeReport NextReport() {
    const size_t seen = coordinator_.reports().size();
    coordinator_.Direct(coordinator_.directive());
    const auto report = coordinator_.WaitFor(seen, [](const v1::NodeReport&) { return true; });
    if (!report) throw std::runtime_error("no report came");
    return *report;
  }
};

// Describes how a trainer dies, and the exit code that the agent reports while the process is still dying.
struct Death {
  const char* job;
  int signal;
  int exit_code;
};

class EarlyDeathTest : public AgentDeathTest, public ::testing::WithParamInterface<Death> {};

TEST_P(EarlyDeathTest, IsToldWhileTheProcessStillDiesAndItsSlotIsNotFree) {
  const TrainerRecord record = StartTrainer(GetParam().job);
  const auto process = common::Process::Open(record.process);
  ASSERT_TRUE(process.ok()) << process.status();
  Dying dying(record.process.pid);
  if (!dying.held()) GTEST_SKIP() << "this machine lets no test hold up a process (ptrace)";
  ASSERT_TRUE(record.process.SendSignal(GetParam().signal).ok());
  dying.Await();
  EXPECT_EQ(ExitCodeOf(record), GetParam().exit_code);
  EXPECT_FALSE(process->Exited());

  v1::NodeDirective directive = coordinator_.directive();
  directive.add_acknowledged_exits(record.trainer);
  coordinator_.Direct(directive);
  ASSERT_TRUE(coordinator_.WaitFor([&](const v1::NodeReport& r) { return Ended(r, record.trainer) == nullptr; }));
  EXPECT_EQ(Running(NextReport()), nullptr);
  EXPECT_EQ(Record().trainer, record.trainer);

  dying.LetGo();
  // The next trainer starts once the memory of the first one is free.
  WaitRunning("", record.trainer);
  EXPECT_FALSE(std::filesystem::exists(common::LifeLockPath(dir_, record.trainer)));
}

INSTANTIATE_TEST_SUITE_P(Kinds, EarlyDeathTest,
                         ::testing::Values(Death{"steady", SIGKILL, -SIGKILL}, Death{"aborts", SIGUSR1, -SIGABRT},
                                           Death{"exits-later", SIGUSR1, 9}),
                         [](const auto& info) {
                           std::string name = info.param.job;
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(AgentDeathTest, ALaterAgentTellsOfItToo) {
  const TrainerRecord record = StartTrainer("steady");
  Dying dying(record.process.pid);
  if (!dying.held()) GTEST_SKIP() << "this machine lets no test hold up a process (ptrace)";
  const std::string first = coordinator_.reports().back().agent_incarnation();
  ASSERT_TRUE(AgentProcess().SendSignal(SIGKILL).ok());
  const std::string second = WaitRunning(first).agent_incarnation();
  ASSERT_TRUE(record.process.SendSignal(SIGKILL).ok());
  dying.Await();
  EXPECT_EQ(ExitCodeOf(record), -SIGKILL);

  ASSERT_TRUE(AgentProcess().SendSignal(SIGKILL).ok());
  const auto third = coordinator_.WaitFor([&](const v1::NodeReport& r) {
    return r.agent_incarnation() != second && r.agent_incarnation() != first && Ended(r, record.trainer) != nullptr;
  });
  ASSERT_TRUE(third.has_value());
  EXPECT_EQ(Running(*third), nullptr);
  dying.LetGo();
  WaitRunning(second, record.trainer);
}

TEST_F(AgentDeathTest, AProcessThatSigkillDoesNotEndTakesItsSlotOutOfUse) {
  const TrainerRecord record = StartTrainer("steady", {"--stuck-seconds", "0.3"});
  Dying dying(record.process.pid);
  if (!dying.held()) GTEST_SKIP() << "this machine lets no test hold up a process (ptrace)";
  ASSERT_TRUE(record.process.SendSignal(SIGKILL).ok());
  dying.Await();
  const auto stuck = coordinator_.WaitFor([](const v1::NodeReport& r) { return r.slot_faults_size() > 0; });
  ASSERT_TRUE(stuck.has_value());
  EXPECT_EQ(stuck->slot_faults(0).slot(), 0);
  EXPECT_THAT(stuck->slot_faults(0).words(), ::testing::HasSubstr("has not ended"));
  dying.LetGo();
  const v1::NodeReport next = WaitRunning("", record.trainer);
  EXPECT_EQ(next.slot_faults_size(), 0);
}

TEST_F(AgentDeathTest, AFrozenTrainerLives) {
  const TrainerRecord record = StartTrainer("steady");
  ASSERT_TRUE(record.process.SendSignal(SIGSTOP).ok());
  const v1::NodeReport report = NextReport();
  ASSERT_NE(Running(report), nullptr);
  EXPECT_EQ(Running(report)->trainer(), record.trainer);
  ASSERT_TRUE(record.process.SendSignal(SIGCONT).ok());
  EXPECT_EQ(Running(NextReport())->trainer(), record.trainer);
}

// A forged life-lock file that says that the trainer has died changes nothing if the kernel says that it lives.
TEST_F(AgentDeathTest, AForgedReleaseKillsNobody) {
  const TrainerRecord record = StartTrainer("steady");
  const std::string before = coordinator_.reports().back().agent_incarnation();
  ASSERT_TRUE(AgentProcess().SendSignal(SIGSTOP).ok());
  std::string all_ones(4096, '\xff');
  ASSERT_TRUE(ReplaceFile(common::LifeLockPath(dir_, record.trainer), all_ones).ok());
  ASSERT_TRUE(AgentProcess().SendSignal(SIGKILL).ok());
  ASSERT_NE(Running(WaitRunning(before)), nullptr);
  // The new agent may have believed the forged life-lock file for a while, but it must never report that the trainer
  // ended.
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Running(NextReport())->trainer(), record.trainer);
  EXPECT_TRUE(record.process.Alive());
  ASSERT_TRUE(record.process.SendSignal(SIGKILL).ok());
  EXPECT_EQ(ExitCodeOf(record), -SIGKILL);
}

// The process descriptor of a trainer shows its end, whatever its life lock says.
class NoLockTest : public AgentDeathTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(NoLockTest, ItsDescriptorTells) {
  const TrainerRecord record = StartTrainer(GetParam());
  EXPECT_EQ(Running(NextReport())->trainer(), record.trainer);
  ASSERT_TRUE(record.process.SendSignal(SIGKILL).ok());
  EXPECT_EQ(ExitCodeOf(record), -SIGKILL);
  WaitRunning("", record.trainer);
}

INSTANTIATE_TEST_SUITE_P(Kinds, NoLockTest, ::testing::Values("old", "cuts-off"), [](const auto& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
});

TEST_F(AgentDeathTest, ALockThatIsMissingStopsNothing) {
  const TrainerRecord record = StartTrainer("steady");
  const std::string before = coordinator_.reports().back().agent_incarnation();
  RemoveFile(common::LifeLockPath(dir_, record.trainer));
  ASSERT_TRUE(AgentProcess().SendSignal(SIGKILL).ok());
  EXPECT_EQ(Running(WaitRunning(before))->trainer(), record.trainer);
  ASSERT_TRUE(record.process.SendSignal(SIGKILL).ok());
  EXPECT_EQ(ExitCodeOf(record), -SIGKILL);
  WaitRunning("", record.trainer);
  EXPECT_THAT(ListFolder(dir_ + "/alive"), ::testing::SizeIs(1));
}

}  // namespace
}  // namespace rekindle::agent
