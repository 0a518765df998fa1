#include "cli/list/node_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rekindle::cli {
namespace {

v1::Node NodeOf(int slots, int trainers) {
  v1::Node node;
  node.set_name("n1");
  node.set_state("ready");
  node.set_slots(slots);
  for (int i = 0; i < trainers; ++i) node.add_trainers(std::string("n1/") + std::to_string(i) + "/x");
  return node;
}

TEST(NodeTable, SlotsInUseAreShownAmongAll) {
  const std::vector<std::string> cells = NodeCells(NodeOf(8, 2));
  EXPECT_EQ(cells[2], "2/8");
  EXPECT_EQ(cells.back(), "");
}

TEST(NodeTable, HowCodeOfJobsIsIsolatedIsShown) {
  v1::Node node = NodeOf(1, 0);
  node.set_isolation("uid+landlock");
  EXPECT_THAT(NodeCells(node), testing::Contains("uid+landlock"));
  const std::string table = NodeTable({NodeCells(node)}).Text(200);
  EXPECT_THAT(table, testing::HasSubstr("ISOLATION"));
}

TEST(NodeTable, SlotsThatHaveFailedAreCountedAndTheFirstSaysWhy) {
  v1::Node node = NodeOf(8, 2);
  node.set_reason("may be taken");
  for (const int slot : {3, 5}) {
    v1::SlotFault* fault = node.add_slot_faults();
    fault->set_slot(slot);
    fault->set_words("GPU is lost\x1b[2J");
  }
  const std::vector<std::string> cells = NodeCells(node);
  EXPECT_EQ(cells[2], "2/8 (2 failed)");
  EXPECT_THAT(cells.back(), testing::StartsWith("may be taken; slot 3: GPU is lost"));
  EXPECT_THAT(cells.back(), testing::Not(testing::HasSubstr("\x1b"))) << "a terminal would obey it";
}

}  // namespace
}  // namespace rekindle::cli
