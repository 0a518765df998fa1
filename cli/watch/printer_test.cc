#include "cli/watch/printer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <sstream>

#include "cli/testing/terminal_testing.h"

namespace rekindle::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class PrinterTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
    SetTerminalEnvironment("xterm", "C.UTF-8");
    watched_.now = 1000;
    v1::JobStatus* status = watched_.job.mutable_status();
    watched_.job.set_name("job");
    watched_.job.set_uid("u");
    status->set_state(v1::RUNNING);
    status->set_step(5);
    status->mutable_resolved_spec()->mutable_training()->set_steps(10);
    status->set_last_event("n2 名 joined");
  }

  std::string Show(Printer& printer, bool changed) {
    out_.str("");
    printer.Show(watched_, changed);
    return out_.str();
  }

  Watched watched_;
  std::ostringstream out_;
  // The descriptor `none_` is no terminal.
  int none_ = -1;
};

TEST_F(PrinterTest, WithoutATerminalALineAnEventAndNowAndThen) {
  const auto printer = MakePrinter(false, Terminal(none_), out_);
  EXPECT_THAT(Show(*printer, true), testing::AllOf(StartsWith("job RUNNING  step 5/10 (50 %)"),
                                                   HasSubstr("  | n2 名 joined\n"), Not(HasSubstr("\033"))));
  watched_.now += 1;
  // One second later the job has changed but has no new event. It is too early for another line without one.
  EXPECT_EQ(Show(*printer, true), "");
  EXPECT_EQ(Show(*printer, false), "");
  watched_.now += 5;
  // Enough time for another line has passed, but the job has not changed since the last call.
  EXPECT_EQ(Show(*printer, false), "");
  EXPECT_THAT(Show(*printer, true), testing::AllOf(StartsWith("job RUNNING  step 5/10"), Not(HasSubstr("|"))));
  watched_.now += 1;
  watched_.job.mutable_status()->set_last_event("n3 joined");
  EXPECT_THAT(Show(*printer, true), HasSubstr("  | n3 joined\n"));
  watched_.job.mutable_status()->set_state(v1::SUCCEEDED);
  EXPECT_THAT(Show(*printer, true), StartsWith("job SUCCEEDED  step 5/10"));
}

TEST_F(PrinterTest, WithoutATerminalItSaysThatTheCoordinatorIsAwayAndThatItIsBack) {
  const auto printer = MakePrinter(false, Terminal(none_), out_);
  Show(*printer, true);
  watched_.away_since = 990;
  EXPECT_EQ(Show(*printer, false), "coordinator away since 00:16:30, 10s\n");
  EXPECT_EQ(Show(*printer, false), "");
  watched_.away_since.reset();
  EXPECT_EQ(Show(*printer, false), "the coordinator answers again\n");
}

TEST_F(PrinterTest, ADumbTerminalGetsLinesToo) {
  const TestTerminal tty;
  SetTerminalEnvironment("dumb", "C.UTF-8");
  const auto printer = MakePrinter(false, Terminal(tty.fd()), out_);
  EXPECT_THAT(Show(*printer, true), testing::AllOf(StartsWith("job RUNNING"), HasSubstr("名"), Not(HasSubstr("\033"))));
}

TEST_F(PrinterTest, WithoutUtf8LinesAreAsciiAndHaveABar) {
  const TestTerminal tty;
  SetTerminalEnvironment("xterm", "C");
  const auto printer = MakePrinter(false, Terminal(tty.fd()), out_);
  EXPECT_THAT(Show(*printer, true), testing::AllOf(StartsWith("[#####-----] job RUNNING"), HasSubstr("| n2 ? joined\n"),
                                                   Not(HasSubstr("\033"))));
}

TEST_F(PrinterTest, WhereItCanItDrawsOverAndLeavesTheCursorBelow) {
  const TestTerminal tty;
  auto printer = MakePrinter(false, Terminal(tty.fd()), out_);
  EXPECT_THAT(Show(*printer, true), StartsWith("\033[2Kjob  RUNNING\r\n"));
  EXPECT_THAT(Show(*printer, false), StartsWith("\r\033[19A\033[2Kjob  RUNNING\r\n"));
  out_.str("");
  printer->StartAnew();
  EXPECT_THAT(out_.str(), "\r\n");
  EXPECT_THAT(Show(*printer, false), StartsWith("\033[2Kjob  RUNNING\r\n"));
  out_.str("");
  printer.reset();
  EXPECT_EQ(out_.str(), "\r\n");
}

TEST_F(PrinterTest, JsonIsOneObjectAChange) {
  const TestTerminal tty;
  const auto printer = MakePrinter(true, Terminal(tty.fd()), out_);
  EXPECT_THAT(Show(*printer, true), testing::AllOf(StartsWith("{\"name\":\"job\""), HasSubstr("}\n")));
  watched_.away_since = 990;
  watched_.now += 100;
  EXPECT_EQ(Show(*printer, false), "");
}

}  // namespace
}  // namespace rekindle::cli
