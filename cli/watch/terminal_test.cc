#include "cli/watch/terminal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "cli/testing/terminal_testing.h"

namespace rekindle::cli {
namespace {

TEST(TerminalTest, RedrawsWhereTheTerminalAndTheLocaleCan) {
  const TestTerminal tty;
  const auto can = [&tty] { return Terminal(tty.fd()).CanRedraw(); };
  SetTerminalEnvironment("xterm-256color", "en_US.UTF-8");
  EXPECT_TRUE(can());
  SetTerminalEnvironment("linux", "C.utf8");
  EXPECT_TRUE(can());
  SetTerminalEnvironment("dumb", "en_US.UTF-8");
  EXPECT_FALSE(can());
  SetTerminalEnvironment("", "en_US.UTF-8");
  EXPECT_FALSE(can());
  SetTerminalEnvironment(nullptr, "en_US.UTF-8");
  EXPECT_FALSE(can());
  SetTerminalEnvironment("xterm", "C");
  EXPECT_FALSE(can());
  SetTerminalEnvironment("xterm", nullptr);
  EXPECT_FALSE(can());
}

TEST(TerminalTest, TheFirstVariableThatIsSetNamesTheLocale) {
  const TestTerminal tty;
  SetTerminalEnvironment("xterm", "C.UTF-8");
  EXPECT_TRUE(Terminal(tty.fd()).IsUtf8());
  setenv("LC_CTYPE", "de_DE.ISO-8859-1", 1);
  EXPECT_FALSE(Terminal(tty.fd()).IsUtf8());
  setenv("LC_ALL", "de_DE.UTF-8", 1);
  EXPECT_TRUE(Terminal(tty.fd()).IsUtf8());
  setenv("LC_ALL", "POSIX", 1);
  EXPECT_FALSE(Terminal(tty.fd()).IsUtf8());
  setenv("LC_ALL", "", 1);
  setenv("LC_CTYPE", "", 1);
  EXPECT_TRUE(Terminal(tty.fd()).IsUtf8());
  SetTerminalEnvironment("xterm", "C");
}

TEST(TerminalTest, APipeIsNone) {
  SetTerminalEnvironment("xterm", "C.UTF-8");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Terminal pipe(ends[1]);
  EXPECT_FALSE(pipe.IsTerminal());
  EXPECT_FALSE(pipe.CanRedraw());
  EXPECT_EQ(pipe.Size().columns, 80);
  close(ends[0]);
  close(ends[1]);
}

TEST(TerminalTest, TheSizeIsThatOfNow) {
  const TestTerminal tty;
  const Terminal terminal(tty.fd());
  // A terminal that does not know its size reports 0.
  EXPECT_EQ(terminal.Size().columns, 80);
  EXPECT_EQ(terminal.Size().rows, 24);
  tty.Resize(120, 40);
  EXPECT_EQ(terminal.Size().columns, 120);
  EXPECT_EQ(terminal.Size().rows, 40);
  tty.Resize(40, 10);
  EXPECT_EQ(terminal.Size().columns, 40);
}

TEST(TerminalTest, AProgramThatIsNotInFrontLeavesTheKeyboard) {
  const TestTerminal tty;
  const QuietKeyboard keyboard(tty.fd());
  termios now = {};
  ASSERT_EQ(tcgetattr(tty.fd(), &now), 0);
  EXPECT_TRUE(now.c_lflag & ECHO);
}

}  // namespace
}  // namespace rekindle::cli
