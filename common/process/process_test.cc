#include "common/process/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include <gtest/gtest.h>

namespace rekindle::common {
namespace {

bool WaitReadable(int fd, int milliseconds = 5000) {
  pollfd p = {.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&p, 1, milliseconds) == 1;
}

ProcessIdentity StartShell(const std::string& command, SpawnOptions options = {}) {
  options.argv = {"/bin/sh", "-c", command};
  auto child = PendingChild::Start(options);
  EXPECT_TRUE(child.ok()) << child.status();
  child->Release();
  return child->identity();
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[256];
  ssize_t got;
  while ((got = read(fd, buffer, sizeof buffer)) > 0) text.append(buffer, static_cast<size_t>(got));
  return text;
}

TEST(StartTime, SurvivesAnyProcessName) {
  const std::string rest = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 99\n";
  EXPECT_EQ(*ParseStartTime("7 (sh)" + rest), 4242u);
  EXPECT_EQ(*ParseStartTime("7 (a b) c) (d)" + rest), 4242u);
  EXPECT_EQ(*ParseStartTime("7 (() ) S 9 ()" + rest), 4242u);
  EXPECT_FALSE(ParseStartTime("").ok());
  EXPECT_FALSE(ParseStartTime("7 sh S 1").ok());
  EXPECT_FALSE(ParseStartTime("7 (sh) S 1 2").ok());
}

TEST(StartTime, OfALiveProcessWithAnOddName) {
  const auto before = Identify(getpid());
  ASSERT_TRUE(before.ok());
  prctl(PR_SET_NAME, ") R 1 (x y");
  EXPECT_EQ(*Identify(getpid()), *before);
  EXPECT_TRUE(before->Alive());
}

TEST(Ending, OfTheTextOfProc) {
  const auto ending = [](int status) {
    std::string stat = "7 (a b) c) S";
    for (int field = 4; field < 52; ++field) stat += " 1";
    return ParseEnding(stat + " " + std::to_string(status) + "\n");
  };
  EXPECT_FALSE(ending(0).has_value());
  EXPECT_EQ(ending(3 << 8)->code, 3);
  EXPECT_EQ(ending(SIGKILL)->code, -SIGKILL);
  // The bit 0x80 says that the process dumped core.
  EXPECT_EQ(ending(SIGABRT | 0x80)->code, -SIGABRT);
  EXPECT_FALSE(ending(SIGSTOP).has_value());
  EXPECT_FALSE(ending(SIGTSTP).has_value());
  EXPECT_FALSE(ending(-1).has_value());
  EXPECT_FALSE(ParseEnding("7 (sh) S 1 2").has_value());
  EXPECT_FALSE(ParseEnding("").has_value());
}

TEST(Ending, OfAProcessThatRunsStandsAndHasEnded) {
  const ProcessIdentity child = StartShell("exec sleep 60");
  auto process = Process::Open(child);
  ASSERT_TRUE(process.ok()) << process.status();
  EXPECT_FALSE(process->Ending().has_value());
  ASSERT_TRUE(child.SendSignal(SIGSTOP).ok());
  siginfo_t info = {};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child.pid), &info, WSTOPPED | WNOWAIT), 0);
  EXPECT_FALSE(process->Ending().has_value());
  ASSERT_TRUE(child.SendSignal(SIGKILL).ok());
  ASSERT_TRUE(WaitReadable(process->fd()));
  ASSERT_TRUE(process->Ending().has_value());
  EXPECT_EQ(process->Ending()->code, -SIGKILL);
  ASSERT_TRUE(process->Reap().ok());
  EXPECT_FALSE(process->Ending().has_value());
}

TEST(ProcessIdentity, AnotherStartTimeIsAnotherProcess) {
  ProcessIdentity other = *Identify(getpid());
  other.start_time_ticks -= 1;
  EXPECT_FALSE(other.Alive());
  // The pid is that of this test, but the start time is not. If SIGKILL was sent all the same, it would end the test.
  EXPECT_TRUE(absl::IsNotFound(other.SendSignal(SIGKILL)));
  EXPECT_FALSE(ProcessIdentity{}.Alive());
}

TEST(Process, SignalExitAndReap) {
  const ProcessIdentity child = StartShell("exec sleep 60");
  auto process = Process::Open(child);
  ASSERT_TRUE(process.ok()) << process.status();
  EXPECT_FALSE(process->Exited());
  EXPECT_TRUE(absl::IsFailedPrecondition(process->Reap().status()));
  ASSERT_TRUE(child.SendSignal(SIGKILL).ok());
  ASSERT_TRUE(WaitReadable(process->fd()));
  // A zombie is not alive.
  EXPECT_FALSE(child.Alive());
  const auto status = process->Reap();
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->code, -SIGKILL);
  EXPECT_EQ(status->ToString(), "killed by signal 9 (Killed)");
  EXPECT_TRUE(absl::IsNotFound(child.SendSignal(SIGKILL)));
}

TEST(PendingChild, RunsOnlyWhenReleased) {
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  UniqueFd reader(pipe_fds[0]);
  UniqueFd writer(pipe_fds[1]);
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", "echo ran"};
  options.output_fd = writer.get();
  ProcessIdentity dropped;
  {
    auto child = PendingChild::Start(options);
    ASSERT_TRUE(child.ok());
    dropped = child->identity();
    EXPECT_TRUE(dropped.Alive());
  }
  int status = 0;
  ASSERT_EQ(waitpid(dropped.pid, &status, 0), dropped.pid);
  EXPECT_EQ(WEXITSTATUS(status), 125);
  writer.Reset();
  EXPECT_EQ(ReadAll(reader.get()), "");
}

TEST(PendingChild, EnvironmentOutputAndClosedDescriptors) {
  int pipe_fds[2];
  // The pipe to which the child writes has no close-on-exec flag, but the child must close its descriptors all the
  // same.
  ASSERT_EQ(pipe2(pipe_fds, 0), 0);
  UniqueFd reader(pipe_fds[0]);
  UniqueFd writer(pipe_fds[1]);
  SpawnOptions options;
  options.environment = {"NAME=value", "PATH=/usr/bin:/bin"};
  options.output_fd = writer.get();
  options.new_session = true;
  const ProcessIdentity child = StartShell(
      "echo $NAME; echo error >&2; test -e /proc/self/fd/" + std::to_string(writer.get()) + " && echo leaked; exit 7",
      options);
  writer.Reset();
  EXPECT_EQ(ReadAll(reader.get()), "value\nerror\n");
  int status = 0;
  ASSERT_EQ(waitpid(child.pid, &status, 0), child.pid);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(PendingChild, ItsSessionMayStartWithASmallShare) {
  if (access("/proc/self/autogroup", F_OK) != 0) GTEST_SKIP() << "this kernel has no autogroups";
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  UniqueFd reader(pipe_fds[0]);
  UniqueFd writer(pipe_fds[1]);
  SpawnOptions options;
  options.environment = {"PATH=/usr/bin:/bin"};
  options.output_fd = writer.get();
  options.new_session = true;
  options.session_nice = 7;
  const ProcessIdentity child = StartShell("cat /proc/self/autogroup", options);
  writer.Reset();
  EXPECT_NE(ReadAll(reader.get()).find(" nice 7"), std::string::npos);
  ASSERT_EQ(waitpid(child.pid, nullptr, 0), child.pid);
}

TEST(PendingChild, BlockedSignalsWaitFromTheStart) {
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", "exit 7"};
  options.blocked_signals = {SIGTERM};
  auto child = PendingChild::Start(options);
  ASSERT_TRUE(child.ok());
  auto process = Process::Open(child->identity());
  ASSERT_TRUE(process->Signal(SIGTERM).ok());
  child->Release();
  ASSERT_TRUE(WaitReadable(process->fd()));
  EXPECT_EQ(process->Reap()->code, 7);
}

TEST(PendingChild, MissingProgramIsExitCode127) {
  SpawnOptions options;
  options.argv = {"/nowhere/program"};
  auto child = PendingChild::Start(options);
  ASSERT_TRUE(child.ok());
  auto process = Process::Open(child->identity());
  child->Release();
  ASSERT_TRUE(WaitReadable(process->fd()));
  EXPECT_EQ(process->Reap()->code, 127);
}

TEST(PendingChild, KeptDescriptorsGetNumbersInTheirOrder) {
  // The pipes have the numbers that the kept descriptors get, in another order.
  int first[2], second[2];
  ASSERT_EQ(pipe2(first, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(second, O_CLOEXEC), 0);
  SpawnOptions options;
  options.kept_fds = {second[1], first[1], second[1]};
  const ProcessIdentity child = StartShell("printf b >&3; printf a >&4; printf c >&5; printf d >&6", options);
  const auto process = Process::Open(child);
  ASSERT_TRUE(process.ok());
  ASSERT_TRUE(WaitReadable(process->fd()));
  EXPECT_NE(process->Reap()->code, 0) << "nothing else is open";
  for (const int end : {first[1], second[1]}) close(end);
  EXPECT_EQ(ReadAll(first[0]), "a");
  EXPECT_EQ(ReadAll(second[0]), "bc");
  for (const int end : {first[0], second[0]}) close(end);
  options.kept_fds.assign(SpawnOptions::kMostKept + 1, STDERR_FILENO);
  options.argv = {"/bin/true"};
  EXPECT_FALSE(PendingChild::Start(options).ok());
}

TEST(PendingChild, AChildThatCannotBeConfinedRunsNothing) {
  int pipe_ends[2];
  ASSERT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
  for (const char* const failed : {"not confined\n", static_cast<const char*>(nullptr)}) {
    SpawnOptions options;
    options.output_fd = pipe_ends[1];
    options.confine = [](const void* with) { return *static_cast<const char* const*>(with); };
    options.confine_with = &failed;
    const auto process = Process::Open(StartShell("echo runs", options));
    ASSERT_TRUE(process.ok());
    ASSERT_TRUE(WaitReadable(process->fd()));
    EXPECT_EQ(process->Reap()->code, failed != nullptr ? 126 : 0);
  }
  close(pipe_ends[1]);
  EXPECT_EQ(ReadAll(pipe_ends[0]), "not confined\nruns\n");
  close(pipe_ends[0]);
}

TEST(Subreaper, OrphansBecomeChildren) {
  ASSERT_TRUE(BecomeSubreaper().ok());
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  UniqueFd reader(pipe_fds[0]);
  UniqueFd writer(pipe_fds[1]);
  SpawnOptions options;
  options.output_fd = writer.get();
  const ProcessIdentity shell = StartShell("sleep 60 >/dev/null 2>&1 & echo $!", options);
  writer.Reset();
  const pid_t orphan = std::stoi(ReadAll(reader.get()));
  ASSERT_EQ(waitpid(shell.pid, nullptr, 0), shell.pid);
  const std::vector<pid_t> children = Children();
  EXPECT_NE(std::find(children.begin(), children.end(), orphan), children.end());
  ASSERT_TRUE(Identify(orphan)->SendSignal(SIGTERM).ok());
  EXPECT_EQ(waitpid(orphan, nullptr, 0), orphan);
}

TEST(SignalFd, DeliversBlockedSignals) {
  auto fd = OpenSignalFd({SIGUSR1, SIGUSR2});
  ASSERT_TRUE(fd.ok());
  EXPECT_EQ(ReadSignal(fd->get()), 0);
  raise(SIGUSR1);
  EXPECT_EQ(ReadSignal(fd->get()), SIGUSR1);
  EXPECT_EQ(ReadSignal(fd->get()), 0);
}

TEST(BootId, IsThere) { EXPECT_EQ(BootId().size(), 36u); }

}  // namespace
}  // namespace rekindle::common
