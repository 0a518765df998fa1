// Makes a terminal for tests, whose keyboard and screen the test controls.
#ifndef REKINDLE_CLI_TESTING_TERMINAL_TESTING_H_
#define REKINDLE_CLI_TESTING_TERMINAL_TESTING_H_

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "common/process/process.h"

namespace rekindle::cli {

// TestTerminal is not the controlling terminal of the test's process.
class TestTerminal {
 public:
  TestTerminal() : master_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (grantpt(master_.get()) != 0 || unlockpt(master_.get()) != 0) abort();
    end_ = common::UniqueFd(open(ptsname(master_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!end_.valid()) abort();
  }

  int fd() const { return end_.get(); }
  void Resize(int columns, int rows) const {
    winsize size = {};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = static_cast<unsigned short>(rows);
    if (ioctl(master_.get(), TIOCSWINSZ, &size) != 0) abort();
  }

 private:
  common::UniqueFd master_;
  common::UniqueFd end_;
};

// Sets the variables TERM and LANG, and unsets LC_ALL and LC_CTYPE. Null unsets TERM or LANG.
inline void SetTerminalEnvironment(const char* term, const char* lang) {
  unsetenv("LC_ALL");
  unsetenv("LC_CTYPE");
  unsetenv("TERM");
  unsetenv("LANG");
  if (term != nullptr) setenv("TERM", term, 1);
  if (lang != nullptr) setenv("LANG", lang, 1);
}

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_TESTING_TERMINAL_TESTING_H_
