// The agent's smaller parts: logs, records, folder, environment.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/agent/exits.h"
#include "worker/agent/gpus.h"
#include "worker/agent/init.h"
#include "worker/agent/launch.h"
#include "worker/agent/log_tail.h"
#include "worker/agent/node_folder.h"
#include "worker/agent/small_file.h"
#include "worker/agent/trainer_record.h"

namespace rekindle::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class PartsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/rekindle-parts-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
    log_ = dir_ + "/x.log";
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  void Append(const std::string& text) { std::ofstream(log_, std::ios::app) << text; }
  static std::vector<std::string> Read(LogTail* tail, bool final = false, LogBudget budget = {}) {
    return tail->Read(&budget, final);
  }

  std::string dir_;
  std::string log_;
};

TEST_F(PartsTest, ACopyOfAFolderHasItsIncarnationAndAnotherHome) {
  std::string incarnation, home;
  {
    const auto first = NodeFolder::Open(dir_ + "/node", 0);
    ASSERT_TRUE(first.ok()) << first.status();
    incarnation = first->incarnation();
    home = first->home();
    EXPECT_NE(home, "");
    std::filesystem::copy(dir_ + "/node", dir_ + "/copy", std::filesystem::copy_options::recursive);
    const auto copy = NodeFolder::Open(dir_ + "/copy", 0);
    ASSERT_TRUE(copy.ok()) << copy.status();
    EXPECT_EQ(copy->incarnation(), incarnation);
    EXPECT_NE(copy->home(), home);
  }
  const auto again = NodeFolder::Open(dir_ + "/node", 0);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->incarnation(), incarnation);
  EXPECT_EQ(again->home(), home);
}

TEST_F(PartsTest, TailGivesWholeLinesOnce) {
  LogTail tail(log_, 0);
  EXPECT_THAT(Read(&tail), IsEmpty());
  Append("one\ntwo\r\nthr");
  EXPECT_THAT(Read(&tail), ElementsAre("one", "two"));
  EXPECT_FALSE(tail.AtEnd());
  Append("ee\n\n");
  EXPECT_THAT(Read(&tail), ElementsAre("three", ""));
  EXPECT_TRUE(tail.AtEnd());
  Append("last words");
  EXPECT_THAT(Read(&tail, /*final=*/true), ElementsAre("last words"));
  EXPECT_TRUE(tail.AtEnd());
}

TEST_F(PartsTest, TailKeepsToTheBudget) {
  Append("1\n2\n3\n");
  LogTail tail(log_, 0);
  EXPECT_THAT(Read(&tail, false, {.lines = 2}), ElementsAre("1", "2"));
  EXPECT_THAT(Read(&tail, false, {.lines = 0}), IsEmpty());
  EXPECT_THAT(Read(&tail), ElementsAre("3"));
}

TEST_F(PartsTest, TailProgressesWithAnyBudgetAndLineLength) {
  Append(std::string(10000, 'x') + "\nend\n");
  LogTail tail(log_, 0, {.longest_line = 4096});
  std::string all;
  std::string last;
  for (int i = 0; i < 2000 && !tail.AtEnd(); ++i) {
    for (const std::string& line : Read(&tail, false, {.bytes = 4500})) {
      EXPECT_LE(line.size(), 4096u);
      all += line;
      last = line;
    }
  }
  EXPECT_EQ(all, std::string(10000, 'x') + "end");
  EXPECT_EQ(last, "end");
}

TEST_F(PartsTest, TailSkipsABacklogAndSaysSo) {
  for (int i = 0; i < 1000; ++i) Append("some line\n");
  LogTail tail(log_, 0, {.backlog = 1000});
  const std::vector<std::string> lines = Read(&tail);
  EXPECT_EQ(lines[0], "[9500 bytes of output were not sent: they are in the node's log file]");
  EXPECT_EQ(lines.size(), 51u);
}

TEST_F(PartsTest, TailRotatesTheFileItHasRead) {
  LogTail tail(log_, 0, {.rotate_at = 10});
  Append("0123456789\n");
  tail.RotateIfLarge();
  EXPECT_FALSE(std::filesystem::exists(log_ + ".1"));  // Not read yet.
  EXPECT_EQ(Read(&tail).size(), 1u);
  tail.RotateIfLarge();
  EXPECT_EQ(std::filesystem::file_size(log_), 0u);
  EXPECT_EQ(std::filesystem::file_size(log_ + ".1"), 11u);
  Append("next\n");
  EXPECT_THAT(Read(&tail), ElementsAre("next"));
}

TEST(CleanText, IsValidUtf8) {
  EXPECT_EQ(ToCleanText("plain\ttext \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "plain\ttext \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(ToCleanText("\xC3(\xA9"), "?(?");
  EXPECT_EQ(ToCleanText("\xC0\x80 \xED\xA0\x80 \xF4\x90\x80\x80"), "?? ??? ????");
  EXPECT_EQ(ToCleanText("\x1b[31m\x7f"), "?[31m?");
  EXPECT_EQ(ToCleanText("cut \xE2\x82"), "cut ??");
}

TEST(Record, RoundTripAndDamage) {
  const TrainerRecord record = {.trainer = "n/1/abcd0123",
                                .slot = 1,
                                .job_uid = "uid",
                                .job_name = "job",
                                .process = {.pid = 42, .start_time_ticks = 1ull << 60},
                                .boot_id = "boot",
                                .started_at = 12.5,
                                .log = "/x/y.log",
                                .log_offset = 77,
                                .exit_code = -9,
                                .exit_reason = "killed"};
  const std::string text = ToJson(record);
  EXPECT_EQ(*FromJson(text), record);
  EXPECT_FALSE(FromJson("").ok());
  EXPECT_FALSE(FromJson("[]").ok());
  EXPECT_FALSE(FromJson("{\"trainer\": 3}").ok());
  EXPECT_FALSE(FromJson(text.substr(0, text.size() / 2)).ok());
  TrainerRecord evil = record;
  evil.job_uid = "../..";
  EXPECT_FALSE(FromJson(ToJson(evil)).ok());
}

TEST_F(PartsTest, FolderKeepsItsIncarnation) {
  std::string incarnation;
  {
    const auto folder = NodeFolder::Open(dir_ + "/node", 0);
    ASSERT_TRUE(folder.ok()) << folder.status();
    incarnation = folder->incarnation();
    EXPECT_EQ(incarnation.size(), 32u);
    EXPECT_TRUE(absl::IsAlreadyExists(NodeFolder::Open(dir_ + "/node", 0).status()));
  }
  EXPECT_EQ(NodeFolder::Open(dir_ + "/node", 0)->incarnation(), incarnation);
  std::ofstream(dir_ + "/node/node.json") << "";  // As a power cut may leave it.
  EXPECT_NE(NodeFolder::Open(dir_ + "/node", 0)->incarnation(), incarnation);
  std::filesystem::remove_all(dir_ + "/node");
  EXPECT_NE(NodeFolder::Open(dir_ + "/node", 0)->incarnation(), incarnation);
  EXPECT_TRUE(absl::IsInvalidArgument(NodeFolder::Open(dir_ + "/" + std::string(90, 'x'), 0).status()));
}

TEST_F(PartsTest, ExitsAreTakenOnceAndClearedButForWatched) {
  const common::ProcessIdentity a = {.pid = 1, .start_time_ticks = 2};
  const common::ProcessIdentity b = {.pid = 1, .start_time_ticks = 3};
  ASSERT_TRUE(RecordExit(dir_, a, {.code = -9}).ok());
  ASSERT_TRUE(RecordExit(dir_, b, {.code = 7}).ok());
  ClearExits(dir_, {a});
  EXPECT_FALSE(TakeExit(dir_, b).has_value());
  EXPECT_EQ(TakeExit(dir_, a)->code, -9);
  EXPECT_FALSE(TakeExit(dir_, a).has_value());
}

TEST(SafeName, RefusesPaths) {
  EXPECT_TRUE(IsSafeName("a-B_3.x", 16));
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "a b", "a\nb"}) EXPECT_FALSE(IsSafeName(name, 16)) << name;
  EXPECT_FALSE(IsSafeName(std::string(17, 'a'), 16));
}

TEST(TrainerEnvironment, PinsAndFilters) {
  v1::JobSpec spec;
  spec.mutable_workers()->set_threads_per_rank(2);
  const std::vector<std::string> environment = TrainerEnvironment(
      spec, {"PATH=/bin", "REKINDLE_X=1", "OMP_NUM_THREADS=64", "MKL_NUM_THREADS=64", "SHELL_SECRET=s", "LD_PRELOAD=x"},
      3);
  EXPECT_THAT(environment, Contains("CUDA_VISIBLE_DEVICES=3"));
  EXPECT_THAT(TrainerEnvironment(spec, {"CUDA_VISIBLE_DEVICES=0"}, -1), Contains("CUDA_VISIBLE_DEVICES="));
  EXPECT_THAT(environment, Contains("PATH=/bin"));
  EXPECT_THAT(environment, Contains("REKINDLE_X=1"));
  EXPECT_THAT(environment, Contains("OMP_NUM_THREADS=2"));
  EXPECT_THAT(environment, Contains(StartsWith("ATEN_CPU_CAPABILITY=")));
  EXPECT_THAT(environment, Not(Contains(HasSubstr("AMX"))));
  EXPECT_THAT(environment, Not(Contains(HasSubstr("64"))));
  EXPECT_THAT(environment, Not(Contains(StartsWith("SHELL_SECRET"))));
  EXPECT_THAT(environment, Not(Contains(StartsWith("LD_PRELOAD"))));
}

TEST(Gpus, TheWeakestCountsAndOtherLinesDoNot) {
  const Gpus none = ParseGpus("No devices were found\n");
  EXPECT_EQ(none.count, 0);
  const Gpus two = ParseGpus("9.0, 143771\n8.0, 40960\n[N/A], [N/A]\n7.0, 1e30\nnan, 5\n-1, 5\n");
  EXPECT_EQ(two.count, 2);
  EXPECT_EQ(two.compute_capability, 80);
  EXPECT_EQ(two.memory_bytes, 40960.0 * (1 << 20));
}

TEST(InitDelay, FirstAtOnceThenBounded) {
  EXPECT_EQ(AgentRestartDelay(0), 0);
  EXPECT_EQ(AgentRestartDelay(1), 0.1);
  EXPECT_EQ(AgentRestartDelay(100), 5);
}

}  // namespace
}  // namespace rekindle::agent
