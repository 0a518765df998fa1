#include "coordinator/server/loop/held_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class HeldReportsTest : public testing::Test {
 protected:
  LoopItem Trainer(double deadline) {
    return TrainerItem{
        .report = {}, .reply = [this](const auto& reply) { Note("trainer", reply.status()); }, .deadline = deadline};
  }
  LoopItem Node(double deadline) {
    return NodeItem{.report = {},
                    .reply = [this](const auto& reply) { Note("node", reply.status()); },
                    .alive = {},
                    .deadline = deadline};
  }
  void Note(const std::string& who, const absl::Status& what) {
    answers_.push_back(who + ": " + std::string(what.message()));
  }

  HeldReports held_;
  std::vector<std::string> answers_;
};

TEST_F(HeldReportsTest, OnlyReportsAreHeld) {
  std::vector<LoopItem> items;
  items.push_back(Trainer(10));
  items.push_back(Mutation{.done = [this](const auto& reply) { Note("change", reply.status()); }});
  items.push_back(LoopTask([this] { answers_.push_back("task"); }));
  items.push_back(Node(5));
  items.push_back(core::PoolReported{});
  held_.Hold(std::move(items), absl::UnavailableError("not saved"));
  EXPECT_THAT(answers_, ElementsAre("change: not saved", "task"));
  EXPECT_EQ(held_.NextDeadline(), 5);
  EXPECT_EQ(held_.Take().size(), 3u);
  EXPECT_THAT(held_.Take(), IsEmpty());
  EXPECT_TRUE(std::isinf(held_.NextDeadline()));
}

TEST_F(HeldReportsTest, AReportIsRefusedAtItsDeadline) {
  std::vector<LoopItem> items;
  items.push_back(Trainer(10));
  items.push_back(Node(5));
  items.push_back(core::PoolReported{});
  held_.Hold(std::move(items), absl::OkStatus());
  held_.Expire(4, absl::UnavailableError("full"));
  EXPECT_THAT(answers_, IsEmpty());
  held_.Expire(5, absl::UnavailableError("full"));
  EXPECT_THAT(answers_, ElementsAre("node: full"));
  held_.Expire(1e9, absl::UnavailableError("full"));
  EXPECT_THAT(answers_, ElementsAre("node: full", "trainer: full"));
  EXPECT_EQ(held_.Take().size(), 1u) << "a pool's report has no deadline";
}

}  // namespace
}  // namespace rekindle::coordinator
