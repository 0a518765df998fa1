#include "worker/agent/logs/log_backlog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "common/time/clock.h"
#include "worker/agent/testing/agent_log_testing.h"

namespace rekindle::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LogBacklogTest : public LogFolderTest {
 protected:
  LogBacklog Open(LogLimits limits = {}) {
    LogBacklog backlog(folder_, limits, PunchHole);
    backlog.Recall();
    return backlog;
  }
  void StartTrainer(LogBacklog& backlog, const std::string& name) {
    Write(name, "");
    backlog.Start("n/0/" + name, "job-of-" + name, Path(name));
  }
  const std::vector<std::string>& Kept(const std::string& name) { return keeper_.logs["n/0/" + name].lines; }
  bool IsLast(const std::string& name) { return keeper_.logs["n/0/" + name].last; }
  // Sends reports until there is nothing left to send, and returns their number.
  int Send(LogBacklog& backlog) {
    for (int reports = 0; reports < 10'000; ++reports) {
      const v1::LogReport report = backlog.NextReport(now_);
      if (report.pieces().empty()) return reports;
      EXPECT_LE(report.ByteSizeLong(), 512u << 10);
      backlog.TakeReply(report, keeper_.Keep(report), now_);
    }
    ADD_FAILURE() << "it sends for ever";
    return 0;
  }

  double now_ = 100;
  Keeper keeper_;
};

TEST_F(LogBacklogTest, SendsLinesAndSaysWhenThereAreNoMore) {
  LogBacklog backlog = Open();
  EXPECT_TRUE(std::isinf(backlog.NextSendAt(now_)));
  StartTrainer(backlog, "a");
  Write("a", "one\ntwo\nthr");
  Send(backlog);
  EXPECT_THAT(Kept("a"), ElementsAre("one", "two"));
  EXPECT_FALSE(IsLast("a"));
  EXPECT_EQ(backlog.NextSendAt(now_), now_);
  EXPECT_TRUE(backlog.IsAllSent()) << "it runs";
  Write("a", "ee");
  backlog.End("n/0/a", now_);
  EXPECT_FALSE(backlog.IsAllSent());
  Send(backlog);
  EXPECT_THAT(Kept("a"), ElementsAre("one", "two", "three"));
  EXPECT_TRUE(IsLast("a"));
  EXPECT_TRUE(backlog.IsAllSent());
  Write("a", "a child of it\n");
  Send(backlog);
  EXPECT_EQ(Kept("a").back(), "a child of it");
  now_ += 60;
  Send(backlog);
  EXPECT_TRUE(std::isinf(backlog.NextSendAt(now_))) << "it is not looked at any more";
}

TEST_F(LogBacklogTest, LostAnswersMakeNoLineTwice) {
  LogBacklog backlog = Open();
  StartTrainer(backlog, "a");
  for (int i = 0; i < 50; ++i) {
    Write("a", absl::StrCat(i, "\n"));
    const v1::LogReport report = backlog.NextReport(now_);
    const v1::LogReply reply = keeper_.Keep(report);
    // Two of three answers to reports get lost on their way back.
    if (i % 3 == 0) backlog.TakeReply(report, reply, now_);
    // Every fifth report arrives twice.
    if (i % 5 == 0) keeper_.Keep(report);
  }
  Send(backlog);
  ASSERT_EQ(Kept("a").size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Kept("a")[static_cast<size_t>(i)], std::to_string(i));
}

TEST_F(LogBacklogTest, TheNextAgentGoesOnFromWhatTheCoordinatorHas) {
  {
    LogBacklog backlog = Open();
    StartTrainer(backlog, "a");
    StartTrainer(backlog, "b");
    Write("a", "a1\na2\n");
    Write("b", "b1\n");
    Send(backlog);
    Write("a", "a3\n");
    // The coordinator keeps the report with line a3, but the agent is killed before it gets the coordinator's answer.
    keeper_.Keep(backlog.NextReport(now_));
  }
  Write("a", "a4\n");
  LogBacklog backlog = Open();
  // Trainer a still runs. Trainer b died meanwhile.
  backlog.Start("n/0/a", "job-of-a", Path("a"));
  Write("b", "b2");
  Send(backlog);
  EXPECT_THAT(Kept("a"), ElementsAre("a1", "a2", "a3", "a4"));
  EXPECT_FALSE(IsLast("a"));
  EXPECT_THAT(Kept("b"), ElementsAre("b1", "b2"));
  EXPECT_TRUE(IsLast("b"));
}

TEST_F(LogBacklogTest, ACoordinatorWithAnOldCopyOrNothingGetsWhatIsStillHere) {
  LogBacklog backlog = Open();
  StartTrainer(backlog, "a");
  StartTrainer(backlog, "b");
  Write("a", "a1\n");
  Write("b", "b1\n");
  backlog.End("n/0/b", now_);
  Send(backlog);
  const Keeper old = keeper_;
  Write("a", "a2\n");
  Send(backlog);
  now_ += 60;
  Send(backlog);
  keeper_ = old;
  keeper_.process = "second";
  Write("a", "a3\n");
  Send(backlog);
  EXPECT_THAT(Kept("a"), ElementsAre("a1", "a2", "a3"));
  EXPECT_THAT(Kept("b"), ElementsAre("b1"));
  keeper_ = {.process = "third"};
  EXPECT_THAT(Kept("a"), IsEmpty()) << "nobody knows";
  backlog.Greet();
  Send(backlog);
  EXPECT_THAT(Kept("a"), ElementsAre("a1", "a2", "a3"));
  EXPECT_THAT(Kept("b"), ElementsAre("b1")) << "also of one that had ended, and was settled";
  backlog.Greet();
  EXPECT_EQ(backlog.NextReport(now_).pieces_size(), 1) << "it is the same: one question is enough";
}

TEST_F(LogBacklogTest, ManyLogsTakeTurnsInBoundedReports) {
  LogBacklog backlog = Open();
  const std::string text = [] {
    std::string lines;
    for (int i = 0; i < 5000; ++i) absl::StrAppend(&lines, "line ", i, "\n");
    return lines;
  }();
  for (int i = 0; i < 5; ++i) {
    StartTrainer(backlog, std::to_string(i));
    Write(std::to_string(i), text);
  }
  int reports = 0;
  for (; reports < 8; ++reports) {
    const v1::LogReport report = backlog.NextReport(now_);
    backlog.TakeReply(report, keeper_.Keep(report), now_);
    EXPECT_TRUE(reports == 0 || backlog.has_more());
  }
  for (int i = 0; i < 5; ++i) EXPECT_GT(Kept(std::to_string(i)).size(), 0u) << "none waits for all of another";
  Send(backlog);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Kept(std::to_string(i)).size(), 5000u);
  EXPECT_FALSE(backlog.has_more());
}

TEST_F(LogBacklogTest, AJobThatIsNotKnownIsAskedForLessAndLess) {
  LogBacklog backlog = Open();
  StartTrainer(backlog, "a");
  StartTrainer(backlog, "b");
  Write("a", "a1\n");
  Write("b", "b1\n");
  keeper_.unwelcome = "job-of-a";
  Send(backlog);
  EXPECT_THAT(Kept("b"), ElementsAre("b1")) << "the other one does not wait for it";
  int asked = 0;
  for (int i = 0; i < 600; ++i, now_ += 1) asked += Send(backlog);
  EXPECT_LT(asked, 20);
  EXPECT_GT(asked, 8);
  // From now on the coordinator accepts the log that it refused before, as it does once it has a record of the job.
  keeper_.unwelcome = "";
  now_ += 60;
  Send(backlog);
  EXPECT_THAT(Kept("a"), ElementsAre("a1"));
}

TEST_F(LogBacklogTest, AFullCoordinatorIsNoProgress) {
  LogBacklog backlog = Open();
  StartTrainer(backlog, "a");
  v1::LogReport report = backlog.NextReport(now_);
  EXPECT_TRUE(backlog.TakeReply(report, keeper_.Keep(report), now_)) << "it says where it stands";
  Write("a", "a1\n");
  keeper_.is_full = true;
  report = backlog.NextReport(now_);
  EXPECT_FALSE(backlog.TakeReply(report, keeper_.Keep(report), now_));
  keeper_.is_full = false;
  Send(backlog);
  EXPECT_THAT(Kept("a"), ElementsAre("a1"));
}

TEST_F(LogBacklogTest, AnswersThatFitNothingDoNoHarm) {
  LogBacklog backlog = Open();
  StartTrainer(backlog, "a");
  Write("a", "a1\n");
  v1::LogReport report = backlog.NextReport(now_);
  v1::LogReply reply;
  reply.set_process("first");
  reply.add_positions()->set_trainer("n/0/other");
  v1::LogPosition& far = *reply.add_positions();
  far.set_trainer("n/0/a");
  far.set_job_uid("job-of-a");
  far.set_end(int64_t{1} << 60);
  backlog.TakeReply(report, reply, now_);
  EXPECT_THAT(backlog.NextReport(now_).pieces(), IsEmpty());
  far.set_end(-5);
  backlog.TakeReply(report, reply, now_);
  report = backlog.NextReport(now_);
  ASSERT_EQ(report.pieces_size(), 1);
  EXPECT_EQ(report.pieces(0).begin(), 0);
}

TEST_F(LogBacklogTest, WhatNobodyNeedsIsFreed) {
  LogBacklog backlog = Open({.keep_sent = 1 << 20, .keep_unsent = 4 << 20});
  StartTrainer(backlog, "a");
  const std::string mebibyte = std::string((1 << 20) - 1, 'x') + "\n";
  for (int i = 0; i < 10; ++i) Write("a", mebibyte);
  backlog.Tidy(common::WallSeconds());
  const LogFile file = *LogFile::Open(Path("a"));
  if (file.Begin() == 0) GTEST_SKIP() << "this file system cannot free a part of a file";
  EXPECT_EQ(file.Begin(), 6 << 20) << "nobody takes it, and a node's disk is not for one log";
  Send(backlog);
  EXPECT_EQ(keeper_.logs["n/0/a"].gone, 6 << 20);
  EXPECT_EQ(keeper_.logs["n/0/a"].end, 10 << 20);
  backlog.Tidy(common::WallSeconds());
  EXPECT_EQ(file.Begin(), 9 << 20);
}

TEST_F(LogBacklogTest, LogsOfEndedTrainersGoTheOldestFirstAndTheSentBeforeOthers) {
  LogBacklog backlog = Open({.ended_logs = 2, .unsent_logs = 3});
  const double wall = common::WallSeconds();
  const auto end = [&](const std::string& name, double age) {
    StartTrainer(backlog, name);
    Write(name, "x\n");
    backlog.End("n/0/" + name, now_);
    const auto written = std::filesystem::file_time_type::clock::now() - std::chrono::seconds(static_cast<int>(age));
    std::filesystem::last_write_time(Path(name), written);
  };
  StartTrainer(backlog, "runs");
  for (int i = 0; i < 4; ++i) end(absl::StrCat("sent", i), 400 - i);
  Send(backlog);
  for (int i = 0; i < 5; ++i) end(absl::StrCat("unsent", i), 1000 - i);
  end("ancient", 8 * 24 * 3600);
  backlog.Tidy(wall);
  EXPECT_TRUE(Exists("runs"));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Exists(absl::StrCat("sent", i)), i >= 2) << i;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Exists(absl::StrCat("unsent", i)), i >= 2) << i;
  EXPECT_FALSE(Exists("ancient"));
  Send(backlog);
  EXPECT_TRUE(IsLast("unsent4"));
  EXPECT_TRUE(backlog.IsAllSent());
}

TEST_F(LogBacklogTest, FilesOfOthersAreLeftAlone) {
  Write("foreign", "mine\n");
  std::ofstream(folder_ + "/damaged.log.json") << "{";
  LogBacklog backlog = Open();
  EXPECT_THAT(backlog.NextReport(now_).pieces(), IsEmpty());
  backlog.Tidy(common::WallSeconds());
  EXPECT_TRUE(Exists("foreign"));
}

}  // namespace
}  // namespace rekindle::agent
