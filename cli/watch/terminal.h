// The terminal that a program writes to: what it can show, how large it is, and what its keyboard does meanwhile.
#ifndef REKINDLE_CLI_WATCH_TERMINAL_H_
#define REKINDLE_CLI_WATCH_TERMINAL_H_

#include <termios.h>

#include <optional>

namespace rekindle::cli {

struct TerminalSize {
  int columns = 80;
  int rows = 24;
};

// Where a descriptor leads, by what the environment says (TERM, LC_ALL, LC_CTYPE, LANG) when it is made. Thread-safe.
class Terminal {
 public:
  explicit Terminal(int fd);

  int fd() const { return fd_; }
  bool IsTerminal() const { return is_terminal_; }
  bool IsUtf8() const { return utf8_; }
  // Lines can be drawn over each other, with block characters. Elsewhere lines are printed one below the other.
  bool CanRedraw() const { return is_terminal_ && has_cursor_ && utf8_; }
  // The size as it is now; the default where the terminal does not say.
  TerminalSize Size() const;

 private:
  const int fd_;
  const bool is_terminal_;
  const bool has_cursor_;  // It can move it.
  const bool utf8_;
};

// While it lives, the terminal does not show what is typed: it would stand in what is drawn. Ctrl-C still interrupts.
// A program in the background leaves the terminal to the one in front.
class QuietKeyboard {
 public:
  explicit QuietKeyboard(int fd);
  ~QuietKeyboard();
  QuietKeyboard(const QuietKeyboard&) = delete;
  QuietKeyboard& operator=(const QuietKeyboard&) = delete;

 private:
  bool InFront() const;

  const int fd_;
  std::optional<termios> before_;
};

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_WATCH_TERMINAL_H_
