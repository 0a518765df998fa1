// Lines that are drawn over those of before, so that the screen stays as high as it was.
#ifndef REKINDLE_CLI_WATCH_DRAWING_H_
#define REKINDLE_CLI_WATCH_DRAWING_H_

#include <ostream>
#include <string>
#include <vector>

#include "cli/watch/terminal.h"

namespace rekindle::cli {

// Thread-compatible.
class Drawing {
 public:
  // `out` is not owned: a terminal that understands the control sequences of ECMA-48.
  explicit Drawing(std::ostream& out) : out_(out) {}

  // REQUIRES: no line is wider than the terminal, and there are no more of them than it has rows. Where what was drawn
  // before does not fit into a terminal that has shrunk, the terminal has broken its lines: the screen is cleared.
  void Draw(const std::vector<std::string>& lines, TerminalSize size);
  // What was drawn stays, and the next drawing begins below it.
  void Leave();

 private:
  std::ostream& out_;
  int drawn_rows_ = 0;  // 0: nothing is to be drawn over.
  int drawn_columns_ = 0;
};

}  // namespace rekindle::cli

#endif  // REKINDLE_CLI_WATCH_DRAWING_H_
