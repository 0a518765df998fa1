#include "cli/text/plain_table.h"

#include <gtest/gtest.h>

namespace rekindle::cli {
namespace {

TEST(PlainTableTest, TablePadsColumnsAndLeavesNoTrailingSpace) {
  EXPECT_EQ(Table({{"A", "LONG"}, {"bbb", "c"}}), "A    LONG\nbbb  c\n");
}

TEST(PlainTableTest, TablePadsByColumnsOfTheTerminal) {
  EXPECT_EQ(Table({{"名前", "b"}, {"abcde", "c"}}), "名前   b\nabcde  c\n");
}

}  // namespace
}  // namespace rekindle::cli
