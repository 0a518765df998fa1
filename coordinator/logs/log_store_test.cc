#include "coordinator/logs/log_store.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/testing/log_testing.h"

namespace rekindle::coordinator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr char kA[] = "n1/0/aaaa";

class LogStoreTest : public LogTest {
 protected:
  LogStoreTest() {
    options_.wall = [this] { return wall_ += 1; };
    options_.space = [this](const std::string&) { return space_; };
  }
  void Open() {
    store_.reset();
    options_.folder = folder_ + "/logs";
    auto store = LogStore::Open(options_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  int64_t Keep(const std::string& job, const std::vector<std::string>& lines) {
    const JobLog* log = store_->Find(job);
    JobLog* found = store_->Find(job);
    const int64_t at = log == nullptr || found->Find(kA) == nullptr ? 0 : found->Find(kA)->end;
    return store_->Keep(Piece(kA, at, lines, job), "folder").end();
  }
  // Keeps `lines` lines of 1 KiB in the job's log.
  void Fill(const std::string& job, int lines) {
    for (int i = 0; i < lines; ++i) Keep(job, {std::string(1023, 'x')});
  }
  std::vector<std::string> Lines(const std::string& job) {
    JobLog* log = store_->Find(job);
    return log == nullptr ? std::vector<std::string>() : ReadAll(*log);
  }

  LogStore::Options options_;
  double wall_ = 1e9;
  common::DiskSpace space_{.free = 50, .total = 100};
  std::unique_ptr<LogStore> store_;
};

TEST_F(LogStoreTest, BeginsWithNothingAndComesBackWithWhatWasKept) {
  Open();
  EXPECT_THAT(Lines("a"), IsEmpty());
  EXPECT_EQ(Keep("a", {"one"}), 4);
  Open();
  EXPECT_THAT(Lines("a"), ElementsAre("one"));
  EXPECT_EQ(store_->Keep(Piece(kA, 0, {"one"}, "a"), "folder").end(), 4);
  struct stat facts = {};
  ASSERT_EQ(stat(options_.folder.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
}

TEST_F(LogStoreTest, OfAllJobsTheOneWrittenLongestAgoGivesWay) {
  options_.job_bytes = 1 << 20;
  options_.total_bytes = 1 << 20;
  Open();
  Keep("old", {"an old line"});
  Fill("mid", 300);
  Fill("new", 600);
  EXPECT_LE(store_->bytes(), 1 << 20);
  EXPECT_THAT(Lines("old"), ElementsAre("an old line"));
  Fill("new", 200);
  EXPECT_LE(store_->bytes(), 1 << 20);
  EXPECT_THAT(Lines("old"), ElementsAre("<NOT_KEPT 1>")) << "it says so";
  EXPECT_EQ(Lines("new").size(), 800u);
  Open();
  EXPECT_LE(store_->bytes(), 1 << 20);
  Keep("old", {"a new line"});
  EXPECT_THAT(Lines("old"), ElementsAre("<NOT_KEPT 1>", "a new line"));
}

TEST_F(LogStoreTest, ALowerLimitHoldsFromTheNextStartOn) {
  options_.job_bytes = 1 << 20;
  Open();
  Fill("a", 1000);
  Fill("b", 1000);
  options_.total_bytes = 1 << 20;
  Open();
  EXPECT_LE(store_->bytes(), 1 << 20);
  EXPECT_GT(Lines("b").size(), 500u);
}

TEST_F(LogStoreTest, OnADiskThatIsNearlyFullLogsDoNotGrowMuch) {
  options_.job_bytes = 512 << 20;
  Open();
  const std::vector<std::string> lines(256, std::string(1023, 'x'));
  // The job's log gets 75 MiB, which is more than all logs may have on a disk that is nearly full.
  for (int i = 0; i < 300; ++i) Keep("a", lines);
  const int64_t before = store_->bytes();
  EXPECT_GT(before, 74 << 20);
  space_.free = 4;
  for (int i = 0; i < 40; ++i) Keep("a", lines);
  EXPECT_LE(store_->bytes(), before);
  EXPECT_GT(store_->bytes(), (64 - 9) << 20);
}

TEST_F(LogStoreTest, AFullDiskTakesNewLinesInPlaceOfOldOnes) {
  bool is_full = false;
  options_.write = [&](int fd, const void* data, size_t bytes) -> ssize_t {
    if (!is_full) return write(fd, data, bytes);
    // A write fails once for lack of space. After that the disk has room, because an old file was removed.
    is_full = false;
    errno = ENOSPC;
    return -1;
  };
  Open();
  Keep("old", {"an old line"});
  Keep("new", {"one"});
  is_full = true;
  EXPECT_EQ(Keep("new", {"two"}), 8);
  EXPECT_THAT(Lines("new"), ElementsAre("one", "two"));
  EXPECT_THAT(Lines("old"), ElementsAre("<NOT_KEPT 1>"));
}

TEST_F(LogStoreTest, ForgottenJobsLeaveNothing) {
  Open();
  for (const char* job : {"a", "b", "c"}) Keep(job, {"line"});
  store_->Forget("a");
  store_->Forget("unknown");
  EXPECT_THAT(FilesIn(options_.folder), UnorderedElementsAre(options_.folder + "/b", options_.folder + "/c"));
  Open();
  store_->ForgetAllBut({"c"});
  EXPECT_THAT(FilesIn(options_.folder), ElementsAre(options_.folder + "/c"));
  EXPECT_THAT(Lines("c"), ElementsAre("line"));
  store_->Forget("c");
  EXPECT_EQ(store_->bytes(), 0);
}

TEST_F(LogStoreTest, MoreJobsThanAreHeldOpen) {
  Open();
  const int jobs = static_cast<int>(LogStore::kLoaded) + 20;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < jobs; ++i) Keep(absl::StrCat("job", i), {absl::StrCat("line ", round)});
    int open = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) open += entry.is_symlink() ? 1 : 0;
    EXPECT_LT(open, static_cast<int>(LogStore::kOpen) + 50);
  }
  for (int i = 0; i < jobs; ++i) ASSERT_THAT(Lines(absl::StrCat("job", i)), ElementsAre("line 0", "line 1"));
}

TEST_F(LogStoreTest, WhatIsNoPieceIsRefused) {
  EXPECT_TRUE(LogStore::Check(Piece(kA, 0, {"fine"})).ok());
  EXPECT_TRUE(LogStore::Check(Piece(kA, 0, {})).ok()) << "a question";
  const auto is_refused = [](const v1::LogPiece& piece) { return absl::IsInvalidArgument(LogStore::Check(piece)); };
  for (const char* uid : {"", ".", "..", "../x", "a/b", "/etc", "a b"}) {
    EXPECT_TRUE(is_refused(Piece(kA, 0, {"x"}, uid))) << uid;
  }
  EXPECT_TRUE(is_refused(Piece(kA, 0, {"x"}, std::string(300, 'a'))));
  EXPECT_TRUE(is_refused(Piece("", 0, {"x"})));
  EXPECT_TRUE(is_refused(Piece("two words", 0, {"x"})));
  EXPECT_TRUE(is_refused(Piece(std::string(300, 'a'), 0, {"x"})));
  EXPECT_TRUE(is_refused(Piece(kA, -1, {"x"})));
  v1::LogPiece piece = Piece(kA, 10, {"x"});
  piece.set_gone(11);
  EXPECT_TRUE(is_refused(piece));
  piece = Piece(kA, 10, {"x"});
  piece.set_end(9);
  EXPECT_TRUE(is_refused(piece));
  piece.set_end(10);
  EXPECT_TRUE(is_refused(piece)) << "lines of no bytes could be kept again and again";
  EXPECT_TRUE(is_refused(Piece(kA, 0, std::vector<std::string>(LogStore::kMaxPieceLines + 1, "x"))));
  EXPECT_TRUE(is_refused(Piece(kA, 0, {std::string(LogStore::kMaxLineBytes + 1, 'x')})));
  EXPECT_TRUE(is_refused(Piece(kA, 0, std::vector<std::string>(100, std::string(LogStore::kMaxLineBytes, 'x')))));
}

}  // namespace
}  // namespace rekindle::coordinator
