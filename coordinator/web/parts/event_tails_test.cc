#include "coordinator/web/parts/event_tails.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "coordinator/web/testing/prepared_source_testing.h"

namespace rekindle::coordinator::web {
namespace {

TEST(EventTails, HasTheNewestOfAllAndOfOneJob) {
  PreparedSource source(0, 0);
  EventTails tails(&source);
  EXPECT_TRUE(tails.Newest("", 0)->empty());
  for (int i = 0; i < 10; ++i) source.AddEvent(i % 2 == 0 ? "even" : "odd");
  EXPECT_EQ(tails.Newest("", 0)->size(), 10u);
  ASSERT_EQ(tails.Newest("odd", 0)->size(), 5u);
  EXPECT_EQ(tails.Newest("odd", 0)->front().revision(), 2);
  EXPECT_EQ(tails.Newest("odd", 8)->size(), 1u);
  source.AddEvent("odd");
  EXPECT_EQ(tails.Newest("odd", 10)->front().revision(), 11);
  EXPECT_TRUE(tails.Newest("none", 0)->empty());
}

TEST(EventTails, NoMoreThanTheNewest) {
  PreparedSource source(0, 0);
  EventTails tails(&source);
  for (int i = 0; i < 1500; ++i) source.AddEvent("busy");
  auto newest = tails.Newest("busy", 0);
  ASSERT_EQ(newest->size(), EventTails::kEvents);
  EXPECT_EQ(newest->back().revision(), 1500);
  for (int i = 0; i < 1200; ++i) source.AddEvent("busy");
  newest = tails.Newest("busy", 0);
  ASSERT_EQ(newest->size(), EventTails::kEvents);
  EXPECT_EQ(newest->back().revision(), 2700);
}

// The newest events of a job are found however many events of other jobs follow them, without asking the coordinator
// for all events.
TEST(EventTails, FindsTheNewestOfAJobThatWasQuietForLong) {
  PreparedSource source(0, 0);
  EventTails tails(&source);
  for (int i = 0; i < 700; ++i) source.AddEvent("quiet");
  for (int i = 0; i < 30'000; ++i) source.AddEvent("busy");
  const int before = source.asked;
  const auto newest = tails.Newest("quiet", 0);
  ASSERT_EQ(newest->size(), EventTails::kEvents);
  EXPECT_EQ(newest->back().revision(), 700);
  EXPECT_LT(source.asked - before, 12);
  const auto busy = tails.Newest("busy", 0);
  EXPECT_EQ(busy->front().revision(), 30'700 - static_cast<int>(EventTails::kEvents) + 1);
}

TEST(EventTails, AnErrorIsToldAndForgotten) {
  PreparedSource source(0, 0);
  EventTails tails(&source);
  source.AddEvent("job");
  source.SetTrouble(absl::UnavailableError("not now"));
  EXPECT_EQ(tails.Newest("job", 0).status().message(), "not now");
  source.SetTrouble(absl::OkStatus());
  EXPECT_EQ(tails.Newest("job", 0)->size(), 1u);
}

TEST(EventTails, ForgetsJobsThatNobodyLooksAt) {
  PreparedSource source(0, 0);
  EventTails tails(&source);
  source.AddEvent("job");
  for (size_t i = 0; i <= 3 * EventTails::kTails; ++i) EXPECT_TRUE(tails.Newest(absl::StrCat(i), 0).ok());
  EXPECT_EQ(tails.Newest("job", 0)->size(), 1u);
}

}  // namespace
}  // namespace rekindle::coordinator::web
