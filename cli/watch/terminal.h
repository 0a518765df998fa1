// Describes the terminal to which a program writes: what it can show and how large it is. While the program draws, the
// terminal does not show what is typed.
#ifndef REKINDLE_CLI_WATCH_TERMINAL_H_
#define REKINDLE_CLI_WATCH_TERMINAL_H_

#include <termios.h>

#include <optional>

namespace rekindle::cli {

struct TerminalSize {
  int columns = 80;
  int rows = 24;
};

// Describes the terminal to which a file descriptor leads. The environment (TERM, LC_ALL, LC_CTYPE, LANG) is read on
// construction. Terminal is thread-safe.
class Terminal {
 public:
  explicit Terminal(int fd);

  int fd() const { return fd_; }
  bool IsTerminal() const { return is_terminal_; }
  bool IsUtf8() const { return utf8_; }
  // Returns whether the terminal can draw new lines over earlier ones, with block characters. Otherwise lines have to
  // be printed one below the other.
  bool CanRedraw() const { return is_terminal_ && has_cursor_ && utf8_; }
  // Returns the current size of the terminal, or the default if the terminal does not report its size.
  TerminalSize Size() const;

 private:
  const int fd_;
  const bool is_terminal_;
  // `has_cursor_` says that the terminal can move its cursor.
  const bool has_cursor_;
  const bool utf8_;
};

// While a QuietKeyboard lives, the terminal does not show what is typed, because that would disturb the drawing. Ctrl-C
// still interrupts. A program in the background does not change the terminal, which the foreground program uses.
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
