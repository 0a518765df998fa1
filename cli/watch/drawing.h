// Draws lines in place of those that were drawn before, so that a live view does not scroll the terminal.
#ifndef REKINDLE_CLI_WATCH_DRAWING_H_
#define REKINDLE_CLI_WATCH_DRAWING_H_

#include <ostream>
#include <string>
#include <vector>

#include "cli/watch/terminal.h"

namespace rekindle::cli {

// Draws lines on one terminal. It is thread-compatible.
class Drawing {
 public:
  // `out` is a terminal that understands the control sequences of ECMA-48. The caller owns it.
  explicit Drawing(std::ostream& out) : out_(out) {}

  // Draws the lines. If the terminal has shrunk so that the earlier lines do not fit, it has wrapped them, and the
  // screen is cleared. REQUIRES: no line is wider than the terminal, and there are no more lines than it has rows.
  void Draw(const std::vector<std::string>& lines, TerminalSize size);
  // Leaves the drawn lines on the screen. The next drawing begins below them.
  void Leave();

 private:
  std::ostream& out_;
  // If `drawn_rows_` is 0, there are no earlier lines to draw over.
  int drawn_rows_ = 0;
  int drawn_columns_ = 0;
};

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_WATCH_DRAWING_H_
