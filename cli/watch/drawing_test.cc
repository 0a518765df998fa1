#include "cli/watch/drawing.h"

#include <gtest/gtest.h>

#include <sstream>

namespace rekindle::cli {
namespace {

class DrawingTest : public testing::Test {
 protected:
  std::string Draw(const std::vector<std::string>& lines, TerminalSize size = {.columns = 10, .rows = 5}) {
    out_.str("");
    drawing_.Draw(lines, size);
    return out_.str();
  }

  std::ostringstream out_;
  Drawing drawing_{out_};
};

TEST_F(DrawingTest, TheSecondIsDrawnOverTheFirst) {
  EXPECT_EQ(Draw({"one", "two", "three"}), "\033[2Kone\r\n\033[2Ktwo\r\n\033[2Kthree\033[J");
  EXPECT_EQ(Draw({"1", "2", "3"}), "\r\033[2A\033[2K1\r\n\033[2K2\r\n\033[2K3\033[J");
  EXPECT_EQ(Draw({"1", "2"}), "\r\033[2A\033[2K1\r\n\033[2K2\033[J");
}

TEST_F(DrawingTest, OneLineNeedsNoWayUp) {
  Draw({"one"});
  EXPECT_EQ(Draw({"1"}), "\r\033[2K1\033[J");
}

TEST_F(DrawingTest, LeavesWhatWasDrawnAndBeginsBelow) {
  Draw({"one", "two"});
  out_.str("");
  drawing_.Leave();
  drawing_.Leave();
  EXPECT_EQ(out_.str(), "\r\n");
  EXPECT_EQ(Draw({"1"}), "\033[2K1\033[J");
}

TEST_F(DrawingTest, ATerminalThatHasBrokenItsLinesIsCleared) {
  Draw({"1234567", "2"});
  EXPECT_EQ(Draw({"1", "2"}, {.columns = 7, .rows = 5}), "\r\033[1A\033[2K1\r\n\033[2K2\033[J");
  Draw({"1234567", "2"});
  EXPECT_EQ(Draw({"1", "2"}, {.columns = 6, .rows = 5}), "\033[H\033[2J\033[2K1\r\n\033[2K2\033[J");
  Draw({"1", "2", "3"});
  EXPECT_EQ(Draw({"1"}, {.columns = 6, .rows = 2}), "\033[H\033[2J\033[2K1\033[J");
}

}  // namespace
}  // namespace rekindle::cli
