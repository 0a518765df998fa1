#include "coordinator/core/state/fault_kind.h"

#include <gtest/gtest.h>

namespace rekindle::core {
namespace {

TEST(FaultKindTest, EachKindIsReadAsItIsWritten) {
  for (const char* word : {"", "trainer_killed", "trainer_frozen", "node_killed", "all_killed", "drained", "excluded",
                           "node_added", "agent_killed", "checkpoint_killed", "coordinator_killed"}) {
    EXPECT_EQ(WordOf(FaultKindOf(word)), word);
  }
  EXPECT_EQ(FaultKindOf("drained"), FaultKind::kDrained);
  EXPECT_EQ(FaultKindOf(""), FaultKind::kNone);
}

TEST(FaultKindTest, AWordOfAnotherReleaseIsAnotherKind) {
  EXPECT_EQ(FaultKindOf("rack_killed"), FaultKind::kOther);
  EXPECT_EQ(WordOf(FaultKind::kOther), "");
}

}  // namespace
}  // namespace rekindle::core
