#include "coordinator/web/parts/speed_book.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace rekindle::coordinator::web {
namespace {

JobPointer Job(const std::string& uid, int step, v1::JobState state = v1::RUNNING) {
  auto job = std::make_shared<v1::Job>();
  job->set_uid(uid);
  job->mutable_status()->set_state(state);
  job->mutable_status()->set_step(step);
  job->mutable_status()->set_tokens_per_second(10.0 * step);
  return job;
}

TEST(SpeedBook, KeepsWhatATrainingJobDid) {
  SpeedBook book;
  book.Take({Job("a", 0), Job("b", 7), Job("c", 7, v1::PAUSED)}, 100);
  book.Take({Job("a", 1), Job("b", 8)}, 102);
  EXPECT_EQ(book.Of("a").size(), 1u) << "before its first step nothing is known";
  ASSERT_EQ(book.Of("b").size(), 2u);
  EXPECT_EQ(book.Of("b")[1].at, 102);
  EXPECT_EQ(book.Of("b")[1].step, 8);
  EXPECT_EQ(book.Of("b")[1].tokens_per_second, 80);
  EXPECT_TRUE(book.Of("c").empty());
  EXPECT_TRUE(book.Of("none").empty());
}

TEST(SpeedBook, ALongJobHasFewerSamplesOverAllOfItsTime) {
  SpeedBook book;
  constexpr int kLooks = 100'000;
  for (int i = 1; i <= kLooks; ++i) book.Take({Job("a", i)}, i);
  const auto samples = book.Of("a");
  EXPECT_LE(samples.size(), SpeedBook::kSamples);
  EXPECT_GE(samples.size(), SpeedBook::kSamples / 2 - 1);
  EXPECT_EQ(samples.front().at, 1);
  EXPECT_GT(samples.back().at, 0.98 * kLooks);
  const double apart = samples[1].at - samples[0].at;
  for (size_t i = 1; i < samples.size(); ++i) EXPECT_EQ(samples[i].at - samples[i - 1].at, apart);
}

TEST(SpeedBook, HasThoseJobsThatTrainedLast) {
  SpeedBook book;
  book.Take({Job("first", 1)}, 1);
  std::vector<JobPointer> jobs;
  for (size_t i = 0; i < SpeedBook::kJobs; ++i) jobs.push_back(Job(absl::StrCat(i), 1));
  book.Take(jobs, 2);
  EXPECT_TRUE(book.Of("first").empty());
  EXPECT_EQ(book.Of("0").size(), 1u);
}

}  // namespace
}  // namespace rekindle::coordinator::web
