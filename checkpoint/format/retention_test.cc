// Checks in tables which checkpoints stay, which are removed and which are archived.
#include "checkpoint/format/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace rekindle::checkpoint {
namespace {

using ::testing::HasSubstr;

constexpr double kDay = 24 * 3600;
constexpr double kNow = 1e9;

// Returns candidates, newest first and one day apart. A step below 0 stands for a checkpoint that is not whole.
std::vector<Candidate> Steps(std::initializer_list<int> steps, const std::vector<double>& losses = {}) {
  std::vector<Candidate> all;
  for (int step : steps) {
    Candidate candidate{.name = absl::StrCat("1-", std::abs(step), "-w"),
                        .step = std::abs(step),
                        .written = kNow - kDay * static_cast<double>(all.size() + 1),
                        .whole = step > 0};
    if (all.size() < losses.size() && losses[all.size()] > 0) candidate.validation_loss = losses[all.size()];
    all.push_back(candidate);
  }
  return all;
}

// Returns the fate of each candidate as one letter: "k" for kept, "r" for removed and "a" for archived.
std::string Fates(const std::vector<Candidate>& candidates, const Retention& retention,
                  const std::set<std::string>& pinned = {}) {
  std::string fates;
  for (const Verdict& verdict : Decide(candidates, retention, pinned, kNow)) {
    EXPECT_NE(verdict.reason, "");
    fates += verdict.fate == Fate::kKeep ? 'k' : verdict.fate == Fate::kRemove ? 'r' : 'a';
  }
  return fates;
}

TEST(RetentionTest, TheNewestStay) {
  EXPECT_EQ(Fates({}, {.keep_last = 1}), "");
  EXPECT_EQ(Fates(Steps({50, 40, 30, 20}), {.keep_last = 1}), "krrr");
  EXPECT_EQ(Fates(Steps({50, 40, 30, 20}), {.keep_last = 3}), "kkkr");
  EXPECT_EQ(Fates(Steps({50, 40}), {.keep_last = 3}), "kk");
}

TEST(RetentionTest, LaterStepsThanTheNewestStay) {
  EXPECT_EQ(Fates(Steps({25, 20, 60, 50, 10}), {.keep_last = 2}), "kkkkr");
  EXPECT_EQ(Fates(Steps({60, 55, 60, 50}), {.keep_last = 2}), "kkrr");
}

TEST(RetentionTest, WithoutARuleAllStay) {
  EXPECT_EQ(Fates(Steps({50, 40, -30}), {}), "kkk");
  EXPECT_EQ(Fates(Steps({50, 40, -30}), {.keep_every = 7, .keep_best = 1}), "kkk");
}

TEST(RetentionTest, WhatIsNotWholeNeverCounts) {
  EXPECT_EQ(Fates(Steps({-50, -40, 30, 20}), {.keep_last = 1}), "kkkr");
  EXPECT_EQ(Fates(Steps({50, -40, 30, -20, 10}), {.keep_last = 2}), "kkkrr");
  EXPECT_EQ(Fates(Steps({-50}), {.keep_last = 1}), "k");
  // A checkpoint that is not whole is kept by no rule but `keep_last`.
  EXPECT_EQ(Fates(Steps({50, -40, 30}), {.keep_last = 1, .keep_every = 10}), "krk");
}

TEST(RetentionTest, EveryKthStays) {
  EXPECT_EQ(Fates(Steps({50, 40, 30, 20, 10}), {.keep_last = 1, .keep_every = 20}), "kkrkr");
  EXPECT_EQ(Fates(Steps({50, 40, 30, 20, 10}), {.keep_last = 1, .keep_every = 1}), "kkkkk");
  // Checkpoints rarely fall on a multiple of `keep_every`, so the first one after each multiple is kept. `keep_every`
  // keeps none before the first multiple.
  EXPECT_EQ(Fates(Steps({51, 46, 41, 31, 26, 21, 6}), {.keep_last = 1, .keep_every = 20}), "krkrrkr");
}

TEST(RetentionTest, TheBestStay) {
  const auto all = Steps({50, 40, 30, 20, 10}, {2.0, 1.5, 1.0, 1.0, 3.0});
  EXPECT_EQ(Fates(all, {.keep_last = 1, .keep_best = 1}), "krkrr");
  EXPECT_EQ(Fates(all, {.keep_last = 1, .keep_best = 2}), "krkkr");
  EXPECT_EQ(Fates(all, {.keep_last = 1, .keep_best = 3}), "kkkkr");
  EXPECT_EQ(Fates(all, {.keep_last = 1, .keep_best = 99}), "kkkkk");
  // A checkpoint that is not whole or has no validation loss cannot be one of the best.
  EXPECT_EQ(Fates(Steps({50, 40, -30}, {0, 0, 0.1}), {.keep_last = 1, .keep_best = 2}), "krr");
}

TEST(RetentionTest, PinnedOnesStayAndStayHot) {
  const Retention retention{.keep_last = 1, .archive_store = "file:///cold", .archive_seconds = 2 * kDay};
  EXPECT_EQ(Fates(Steps({50, 40, 30, 20}), retention, {"1-30-w"}), "krkr");
  EXPECT_EQ(Fates(Steps({-50}), {.keep_last = 1}, {"1-50-w"}), "k");
}

TEST(RetentionTest, WhatStaysLongBecomesCold) {
  const Retention retention{.keep_last = 2, .keep_every = 10, .archive_store = "file:///cold", .archive_seconds = 90};
  EXPECT_EQ(Fates(Steps({50, 45, 40, 35, 30}), retention), "aaara");
  Retention later = retention;
  later.archive_seconds = 3.5 * kDay;
  EXPECT_EQ(Fates(Steps({50, 45, 40, 35, 30}), later), "kkkra");
  // If no rule removes checkpoints, age alone decides which are archived. A checkpoint that is not whole stays where it
  // is.
  EXPECT_EQ(Fates(Steps({50, -45}), {.archive_store = "file:///cold", .archive_seconds = 90}), "ak");
  later.archive_store.clear();
  EXPECT_EQ(Fates(Steps({50, 45, 40, 35, 30}), later), "kkkrk");
}

TEST(RetentionTest, ReasonsNameTheRule) {
  const auto verdicts = Decide(Steps({50, 40, 30, 25, 20}, {3, 2, 1}),
                               {.keep_last = 1, .keep_every = 20, .keep_best = 1}, {"1-25-w"}, kNow);
  EXPECT_EQ(verdicts[0].reason, "is one of the newest 1");
  EXPECT_EQ(verdicts[1].reason, "is the first from step 40 on");
  EXPECT_EQ(verdicts[2].reason, "is one of the best 1");
  EXPECT_EQ(verdicts[3].reason, "is pinned");
  EXPECT_THAT(Decide(Steps({50, 40}), {.keep_last = 1}, {}, kNow)[1].reason, HasSubstr("older than the newest 1"));
}

TEST(RetentionTest, NegativeNumbersAreRefused) {
  EXPECT_TRUE(CheckRetention({}).ok());
  EXPECT_FALSE(CheckRetention({.keep_last = -1}).ok());
  EXPECT_FALSE(CheckRetention({.keep_every = -1}).ok());
  EXPECT_FALSE(CheckRetention({.keep_best = -1}).ok());
  EXPECT_FALSE(CheckRetention({.archive_seconds = -1}).ok());
}

}  // namespace
}  // namespace rekindle::checkpoint
