#include "cli/watch/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace rekindle::cli {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns whether the locale is UTF-8. The first of LC_ALL, LC_CTYPE and LANG that is set decides, as for setlocale().
bool HasUtf8Locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string locale = absl::AsciiStrToLower(Environment(name));
    if (!locale.empty()) return absl::StrContains(locale, "utf-8") || absl::StrContains(locale, "utf8");
  }
  return false;
}

}  // namespace

Terminal::Terminal(int fd)
    : fd_(fd),
      is_terminal_(isatty(fd) == 1),
      has_cursor_(!Environment("TERM").empty() && Environment("TERM") != "dumb"),
      utf8_(HasUtf8Locale()) {}

TerminalSize Terminal::Size() const {
  winsize told = {};
  TerminalSize size;
  if (ioctl(fd_, TIOCGWINSZ, &told) != 0) return size;
  if (told.ws_col > 0) size.columns = told.ws_col;
  if (told.ws_row > 0) size.rows = told.ws_row;
  return size;
}

QuietKeyboard::QuietKeyboard(int fd) : fd_(fd) {
  termios now = {};
  if (!InFront() || tcgetattr(fd_, &now) != 0) return;
  before_ = now;
  now.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL);
  tcsetattr(fd_, TCSANOW, &now);
}

QuietKeyboard::~QuietKeyboard() {
  if (before_ && InFront()) tcsetattr(fd_, TCSANOW, &*before_);
}

bool QuietKeyboard::InFront() const { return tcgetpgrp(fd_) == getpgrp(); }

}  // namespace rekindle::cli
