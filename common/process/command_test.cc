#include "common/process/command.h"

#include <poll.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/time/clock.h"

namespace rekindle::common {
namespace {

CommandOptions Shell(const std::string& line) {
  return {.argv = {"/bin/sh", "-c", line}, .environment = OwnEnvironment()};
}

TEST(RunCommand, ReturnsWhatItWrote) {
  const auto text = RunCommand(Shell("echo one; echo two >&2"));
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, "one\ntwo\n");
}

TEST(RunCommand, SeesOnlyTheEnvironmentItIsGiven) {
  EXPECT_EQ(*RunCommand({.argv = {"/bin/sh", "-c", "echo $A$HOME"}, .environment = {"A=b"}}), "b\n");
}

TEST(RunCommand, AnythingButZeroIsAnError) {
  const auto text = RunCommand(Shell("exit 3"));
  EXPECT_TRUE(absl::IsUnavailable(text.status())) << text.status();
  EXPECT_THAT(std::string(text.status().message()), testing::HasSubstr("exit code 3"));
  EXPECT_FALSE(RunCommand({.argv = {"/nonexistent/program"}}).ok());
}

TEST(RunCommand, OneThatHangsIsKilledWithWhatItStarted) {
  CommandOptions options = Shell("sleep 1000 & echo $!; wait");
  options.limit_seconds = 0.3;
  const double start = SteadySeconds();
  EXPECT_TRUE(absl::IsDeadlineExceeded(RunCommand(options).status()));
  EXPECT_LT(SteadySeconds() - start, 30);
}

TEST(RunCommand, OneThatPrintsOnAndOnIsEnded) {
  CommandOptions options = Shell("exec yes");
  options.max_bytes = 1000;
  // The command prints for ever, so SIGPIPE ends it when its output reaches the limit.
  EXPECT_TRUE(absl::IsUnavailable(RunCommand(options).status()));
}

TEST(RunToEnd, TheExitCodeAndTheOutputAreBothTold) {
  CommandOptions options = Shell("echo a; echo b >&2; cat; exit 3");
  options.keep_stderr = true;
  const auto run = RunToEnd(options);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->output, "a\n");
  EXPECT_EQ(run->status.code, 3);
}

TEST(RunToEnd, WhatItLeavesRunningIsKilled) {
  const auto run = RunToEnd(Shell("sleep 1000 > /dev/null 2>&1 & echo $!"));
  ASSERT_TRUE(run.ok()) << run.status();
  const auto identity = Identify(std::stoi(run->output));
  const absl::StatusOr<Process> left = identity.ok() ? Process::Open(*identity) : identity.status();
  // If the process that the command left behind cannot be opened, it is gone already, and there is nothing to wait for.
  if (!left.ok()) return;
  pollfd ended = {.fd = left->fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&ended, 1, 20'000), 1);
}

}  // namespace
}  // namespace rekindle::common
