#include "common/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/clock.h"

namespace rekindle::common {
namespace {

CommandOptions Shell(const std::string& line) { return {.argv = {"/bin/sh", "-c", line}, .environment = OwnEnvironment()}; }

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
  EXPECT_TRUE(absl::IsUnavailable(RunCommand(options).status()));  // By SIGPIPE.
}

}  // namespace
}  // namespace rekindle::common
