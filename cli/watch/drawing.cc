#include "cli/watch/drawing.h"

#include <algorithm>

#include "cli/text/terminal_columns.h"

namespace rekindle::cli {
namespace {

constexpr const char* kClearLine = "\033[2K";
constexpr const char* kClearBelow = "\033[J";
constexpr const char* kClearScreen = "\033[H\033[2J";

std::string Up(int rows) { return rows > 0 ? "\033[" + std::to_string(rows) + "A" : ""; }

}  // namespace

void Drawing::Draw(const std::vector<std::string>& lines, TerminalSize size) {
  std::string frame;
  if (drawn_rows_ > size.rows || drawn_columns_ > size.columns) {
    frame = kClearScreen;
  } else if (drawn_rows_ > 0) {
    frame = "\r" + Up(drawn_rows_ - 1);
  }
  drawn_rows_ = static_cast<int>(lines.size());
  drawn_columns_ = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    // A line of the terminal is cleared before it is written. After writing a line that fills the terminal, clearing
    // would remove its last character.
    frame += (i > 0 ? "\r\n" : "") + std::string(kClearLine) + lines[i];
    drawn_columns_ = std::max(drawn_columns_, ColumnsOf(lines[i]));
  }
  out_ << frame << kClearBelow << std::flush;
}

void Drawing::Leave() {
  if (drawn_rows_ > 0) out_ << "\r\n" << std::flush;
  drawn_rows_ = drawn_columns_ = 0;
}

}  // namespace rekindle::cli
