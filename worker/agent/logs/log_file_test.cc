#include "worker/agent/logs/log_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "worker/agent/testing/agent_log_testing.h"

namespace rekindle::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LogFileTest : public LogFolderTest {
 protected:
  LogFile Own(const std::string& name = "x") const {
    Write(name, "");
    auto file = LogFile::OpenOrOwn(Path(name), {.trainer = "n/0/a", .job_uid = "job"});
    EXPECT_TRUE(file.ok()) << file.status();
    return *std::move(file);
  }
  // Returns the lines of the log that come after those that the previous call of Read() returned.
  std::vector<std::string> Read(const LogFile& file, bool ended = false, LogBudget budget = {}) {
    piece_ = file.Read(position_, ended, &budget);
    EXPECT_EQ(piece_.begin() - piece_.gone(), position_);
    position_ = piece_.end();
    return {piece_.lines().begin(), piece_.lines().end()};
  }

  int64_t position_ = 0;
  v1::LogPiece piece_;
};

TEST_F(LogFileTest, GivesWholeLinesOnce) {
  const LogFile file = Own();
  EXPECT_THAT(Read(file), IsEmpty());
  Write("x", "one\ntwo\r\nthr");
  EXPECT_THAT(Read(file), ElementsAre("one", "two"));
  EXPECT_EQ(piece_.trainer(), "n/0/a");
  EXPECT_EQ(piece_.job_uid(), "job");
  EXPECT_LT(position_, file.End());
  Write("x", "ee\n\n");
  EXPECT_THAT(Read(file), ElementsAre("three", ""));
  EXPECT_EQ(position_, file.End());
  EXPECT_FALSE(piece_.last());
  Write("x", "last words");
  EXPECT_THAT(Read(file, /*ended=*/true), ElementsAre("last words"));
  EXPECT_TRUE(piece_.last());
  EXPECT_THAT(Read(file, /*ended=*/true), IsEmpty());
  EXPECT_TRUE(piece_.last());
}

TEST_F(LogFileTest, KeepsToTheBudget) {
  const LogFile file = Own();
  Write("x", "1\n2\n3\n");
  EXPECT_THAT(Read(file, true, {.lines = 2}), ElementsAre("1", "2"));
  EXPECT_FALSE(piece_.last());
  EXPECT_THAT(Read(file, true), ElementsAre("3"));
  EXPECT_TRUE(piece_.last());
}

TEST_F(LogFileTest, CutsUpLongLinesWithoutMakingOthers) {
  for (const size_t length : {4095u, 4096u, 4097u, 8192u, 10'000u}) {
    const std::string name = std::to_string(length);
    const LogFile file = Own(name);
    Write(name, std::string(length, 'x') + "\nend\n");
    position_ = 0;
    std::string all;
    std::vector<std::string> last;
    for (int i = 0; i < 100 && position_ < file.End(); ++i) {
      last = Read(file, false, {.bytes = LogFile::kLongestLine + 1 + i % 7});
      for (const std::string& line : last) {
        EXPECT_LE(line.size(), 4096u);
        EXPECT_NE(line, "") << length;
        all += line;
      }
    }
    EXPECT_EQ(all, std::string(length, 'x') + "end");
    EXPECT_EQ(last.back(), "end");
  }
}

TEST_F(LogFileTest, SaysWhoseItIsAndKnowsItAgain) {
  const LogFile file = Own();
  const auto again = LogFile::Open(Path("x"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->owner(), file.owner());
  struct stat facts = {};
  ASSERT_EQ(stat((Path("x") + ".json").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  EXPECT_TRUE(absl::IsNotFound(LogFile::Open(Path("y")).status()));
  EXPECT_TRUE(absl::IsNotFound(LogFile::OpenOrOwn(Path("y"), file.owner()).status()));
  for (const char* text : {"", "[]", "{}", "{\"trainer\": 3, \"job_uid\": \"a\", \"begin\": 0}",
                           "{\"trainer\": \"t\", \"job_uid\": \"a\", \"begin\": -1}"}) {
    std::ofstream(Path("x") + ".json", std::ios::trunc) << text;
    EXPECT_TRUE(absl::IsDataLoss(LogFile::Open(Path("x")).status())) << text;
  }
  file.Remove();
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(LogFileTest, FreesItsBeginningUnderTheWriter) {
  LogFile file = Own();
  const std::string line(1023, 'x');
  for (int i = 0; i < 3000; ++i) Write("x", line + "\n");
  if (file.DiskBytes() < 3000 * 1024) GTEST_SKIP() << "this file system does not say what a file takes";
  file.Free(2500 * 1024, 1 << 30, PunchHole);
  if (file.Begin() == 0) GTEST_SKIP() << "this file system cannot free a part of a file";
  EXPECT_EQ(file.Begin(), 2 << 20);
  EXPECT_LT(file.DiskBytes(), 1100 << 10);
  EXPECT_EQ(file.End(), 3000 * 1024);
  position_ = 100;
  EXPECT_THAT(Read(file, false, {.lines = 1}), ElementsAre(line));
  EXPECT_EQ(piece_.gone(), (2 << 20) - 100);
  Write("x", "more\n");
  position_ = 3000 * 1024;
  EXPECT_THAT(Read(file), ElementsAre("more"));
  file.Free(3000 * 1024, 1 << 30, PunchHole);
  EXPECT_EQ(LogFile::Open(Path("x"))->Begin(), 2 << 20) << "no more than whole pieces below what is there";
}

TEST_F(LogFileTest, WhereAPartCannotBeFreedAllOfItIsAndPositionsGoOn) {
  LogFile file = Own();
  const auto cannot = [](int, int64_t) { return false; };
  Write("x", std::string(2 << 20, 'x') + "\n");
  file.Free(2 << 20, 4 << 20, cannot);
  EXPECT_EQ(file.Begin(), 0) << "it is not that large";
  file.Free(2 << 20, 1 << 20, cannot);
  EXPECT_EQ(file.Begin(), (2 << 20) + 1);
  EXPECT_EQ(std::filesystem::file_size(Path("x")), 0u);
  Write("x", "next\n");
  EXPECT_THAT(Read(file), ElementsAre("next"));
  EXPECT_EQ(piece_.gone(), (2 << 20) + 1);
  EXPECT_EQ(LogFile::Open(Path("x"))->End(), (2 << 20) + 6) << "the next agent knows it, too";
}

TEST(CleanText, IsValidUtf8) {
  EXPECT_EQ(ToCleanText("plain\ttext \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "plain\ttext \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(ToCleanText("\xC3(\xA9"), "?(?");
  EXPECT_EQ(ToCleanText("\xC0\x80 \xED\xA0\x80 \xF4\x90\x80\x80"), "?? ??? ????");
  EXPECT_EQ(ToCleanText("\x1b[31m\x7f"), "?[31m?");
  EXPECT_EQ(ToCleanText("cut \xE2\x82"), "cut ??");
}

}  // namespace
}  // namespace rekindle::agent
