#include "coordinator/logs/job_log.h"

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

constexpr char kA[] = "n1/0/aaaa";
constexpr char kB[] = "n2/0/bbbb";

ssize_t WriteAll(int fd, const void* data, size_t bytes) { return write(fd, data, bytes); }

class JobLogTest : public LogTest {
 protected:
  JobLog Open(int64_t bytes = 1 << 20, WriteCall write = WriteAll) {
    return JobLog(Folder(), "job", {.bytes = bytes, .write = std::move(write)});
  }
  std::string Folder() const { return folder_ + "/job"; }
  static int64_t EndOf(JobLog& log, const std::string& trainer) {
    const JobLog::Trainer* found = log.Find(trainer);
    return found == nullptr ? -1 : found->end;
  }
  // Writes `lines` lines of `trainer`, each of `bytes` bytes. They contain consecutive numbers, from `*number` on.
  static void Write(JobLog& log, const std::string& trainer, int lines, int* number, size_t bytes = 100) {
    for (int i = 0; i < lines; ++i) {
      std::string line = std::to_string((*number)++);
      line.resize(bytes - 1, '.');
      ASSERT_TRUE(log.Append(Piece(trainer, std::max<int64_t>(0, EndOf(log, trainer)), {line}), "folder", 1).ok());
    }
  }
  static int NumberIn(const std::string& line) { return std::stoi(line); }
};

TEST_F(JobLogTest, KeepsEachLineOnceWhateverIsSentAgain) {
  JobLog log = Open();
  EXPECT_THAT(ReadAll(log), IsEmpty());
  ASSERT_TRUE(log.Append(Piece(kA, 0, {"one", "two"}), "f", 1).ok());
  ASSERT_TRUE(log.Append(Piece(kB, 0, {"other"}), "f", 2).ok());
  ASSERT_TRUE(log.Append(Piece(kA, 0, {"one", "two"}), "f", 3).ok()) << "the answer to it was lost";
  ASSERT_TRUE(log.Append(Piece(kA, 0, {"one", "two", "three"}), "f", 3).ok()) << "half of it is known";
  EXPECT_EQ(EndOf(log, kA), 8);
  ASSERT_TRUE(log.Append(Piece(kA, 9, {"far"}), "f", 3).ok()) << "what is between is not here";
  EXPECT_EQ(EndOf(log, kA), 8);
  ASSERT_TRUE(log.Append(Piece(kA, 8, {"three"}), "f", 4).ok());
  ASSERT_TRUE(log.Append(Last(Piece(kA, 14, {})), "f", 5).ok());
  EXPECT_TRUE(log.Find(kA)->last);
  EXPECT_THAT(ReadAll(log), ElementsAre("one", "two", "other", "three"));
}

TEST_F(JobLogTest, IsTheSameAfterARestart) {
  std::string id;
  {
    JobLog log = Open();
    ASSERT_TRUE(log.Append(Piece(kA, 0, {"one"}), "f", 1).ok());
    ASSERT_TRUE(log.Append(Last(Piece(kB, 0, {"other"})), "g", 2).ok());
    LogCursor cursor;
    EXPECT_THAT(ReadAll(log, &cursor), ElementsAre("one", "other"));
    id = cursor.log;
    EXPECT_EQ(cursor.after, 2);
  }
  JobLog log = Open();
  EXPECT_EQ(EndOf(log, kA), 4);
  EXPECT_TRUE(log.Find(kB)->last);
  EXPECT_EQ(log.Find(kB)->incarnation, "g");
  ASSERT_TRUE(log.Append(Piece(kA, 0, {"one"}), "f", 3).ok());
  ASSERT_TRUE(log.Append(Piece(kA, 4, {"two"}), "f", 4).ok());
  LogCursor cursor{.log = id, .after = 1};
  EXPECT_THAT(ReadAll(log, &cursor), ElementsAre("other", "two"));
  EXPECT_EQ(FilesIn(Folder()).size(), 1u);
}

TEST_F(JobLogTest, FilesAreForTheirOwnerOnly) {
  const mode_t before = umask(0);
  JobLog log = Open();
  const absl::Status kept = log.Append(Piece(kA, 0, {"one"}), "f", 1);
  umask(before);
  ASSERT_TRUE(kept.ok()) << kept;
  struct stat facts = {};
  ASSERT_EQ(stat(Folder().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(FilesIn(Folder()).at(0).c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(JobLogTest, WhereverTheEndIsTornWhatIsBeforeItIsReadAndTheRestIsTakenAgain) {
  std::string whole;
  std::string file;
  int64_t first = 0;
  {
    JobLog log = Open();
    ASSERT_TRUE(log.Append(Piece(kA, 0, {"one"}), "f", 1).ok());
    file = FilesIn(Folder()).at(0);
    first = static_cast<int64_t>(BytesOf(file).size());
    ASSERT_TRUE(log.Append(Piece(kA, 4, {"two", "three"}), "f", 2).ok());
    whole = BytesOf(file);
  }
  for (int64_t cut = first; cut < static_cast<int64_t>(whole.size()); ++cut) {
    for (const std::string& rubbish : {std::string(), std::string(64, '\0'), std::string(100, 'x')}) {
      SetBytes(file, whole.substr(0, static_cast<size_t>(cut)) + rubbish);
      JobLog log = Open();
      ASSERT_EQ(EndOf(log, kA), 4) << cut;
      ASSERT_TRUE(log.Append(Piece(kA, 4, {"two", "three"}), "f", 2).ok());
      ASSERT_THAT(ReadAll(log), ElementsAre("one", "two", "three")) << cut;
      JobLog again = Open();
      ASSERT_THAT(ReadAll(again), ElementsAre("one", "two", "three")) << cut;
    }
  }
}

TEST_F(JobLogTest, AnOldCopyTakesAgainWhatCameAfterIt) {
  std::string file;
  std::string old;
  {
    JobLog log = Open();
    ASSERT_TRUE(log.Append(Piece(kA, 0, {"one"}), "f", 1).ok());
    file = FilesIn(Folder()).at(0);
    old = BytesOf(file);
    ASSERT_TRUE(log.Append(Last(Piece(kA, 4, {"two"})), "f", 1).ok());
  }
  SetBytes(file, old);
  JobLog log = Open();
  EXPECT_EQ(EndOf(log, kA), 4);
  EXPECT_FALSE(log.Find(kA)->last);
  ASSERT_TRUE(log.Append(Last(Piece(kA, 4, {"two"})), "f", 1).ok());
  EXPECT_THAT(ReadAll(log), ElementsAre("one", "two"));
}

TEST_F(JobLogTest, WhoeverReadALogThatIsGoneIsToldSo) {
  LogCursor cursor;
  {
    JobLog log = Open();
    ASSERT_TRUE(log.Append(Piece(kA, 0, {"one"}), "f", 1).ok());
    EXPECT_THAT(ReadAll(log, &cursor), ElementsAre("one"));
  }
  std::filesystem::remove_all(Folder());
  JobLog log = Open();
  ASSERT_TRUE(log.Append(Piece(kA, 0, {"one", "two"}), "f", 1).ok());
  EXPECT_THAT(ReadAll(log, &cursor), ElementsAre("<ANOTHER_LOG>", "one", "two"));
}

TEST_F(JobLogTest, TheOldestFilesGoAndTheReaderIsToldHowManyLines) {
  int number = 0;
  {
    JobLog log = Open();
    Write(log, kB, 1, &number);
    // These lines have 2 MB, which is more than the log keeps.
    Write(log, kA, 20'000, &number);
    EXPECT_LE(log.bytes(), 1 << 20);
    EXPECT_GE(log.bytes(), (1 << 20) * 3 / 4);
  }
  JobLog log = Open();
  int64_t on_disk = 0;
  for (const std::string& file : FilesIn(Folder())) on_disk += static_cast<int64_t>(std::filesystem::file_size(file));
  EXPECT_EQ(on_disk, log.bytes());
  const std::vector<std::string> lines = ReadAll(log);
  ASSERT_GT(lines.size(), 1u);
  const int first = NumberIn(lines[1]);
  EXPECT_EQ(lines[0], absl::StrCat("<NOT_KEPT ", first, ">"));
  for (size_t i = 1; i < lines.size(); ++i) ASSERT_EQ(NumberIn(lines[i]), first + static_cast<int>(i) - 1);
  EXPECT_EQ(NumberIn(lines.back()), number - 1);
  EXPECT_EQ(EndOf(log, kB), 100) << "where a trainer stands is known though its lines are gone";

  // The reader has read only lines that were removed since. Five more lines were removed before it read them, and a
  // note says so.
  LogCursor behind;
  behind.log = "";
  behind.after = first - 5;
  EXPECT_EQ(ReadAll(log, &behind).at(0), "<NOT_KEPT 5>");
  LogCursor tail;
  log.SeekTail(3, &tail);
  EXPECT_EQ(ReadAll(log, &tail).size(), 3u) << "no note: so many were asked for";
  log.SeekTail(number, &tail);
  EXPECT_EQ(ReadAll(log, &tail), lines);
}

TEST_F(JobLogTest, HoweverLargeThePiecesAreTheLimitHoldsAndMostOfItIsUsed) {
  constexpr int64_t kBytes = 1 << 20;
  JobLog log = Open(kBytes);
  int64_t written = 0;
  for (int i = 0; i < 400; ++i) {
    // The pieces have from 1 KiB to 160 KiB: more than the eighth of the limit that is the size of a file.
    const std::vector<std::string> lines(static_cast<size_t>(1 + (i * 67) % 160), std::string(1023, 'x'));
    ASSERT_TRUE(log.Append(Piece(kA, written, lines), "f", i).ok());
    written += static_cast<int64_t>(lines.size()) << 10;
    ASSERT_EQ(EndOf(log, kA), written);
    ASSERT_LE(log.bytes(), kBytes) << "after piece " << i;
    if (written > 2 * kBytes) {
      // A file and the next piece may be 160 KiB each.
      ASSERT_GE(log.bytes(), kBytes - (320 << 10)) << "after piece " << i;
    }
  }
}

TEST_F(JobLogTest, AReaderGoesOnWhereItWasWhileFilesComeAndGo) {
  JobLog log = Open();
  LogCursor cursor;
  int number = 0;
  int expected = 0;
  for (int i = 0; i < 200; ++i) {
    Write(log, kA, 100, &number);
    for (const std::string& line : ReadAll(log, &cursor)) ASSERT_EQ(NumberIn(line), expected++);
  }
  EXPECT_EQ(expected, number);
}

TEST_F(JobLogTest, WhatADiskDoesNotTakeIsAskedForAgain) {
  int room = 0;
  int error = ENOSPC;
  JobLog log = Open(1 << 20, [&](int fd, const void* data, size_t bytes) -> ssize_t {
    if (room <= 0) {
      errno = error;
      return -1;
    }
    // A disk with too little room for a write takes only a part of it.
    const size_t part = std::min(bytes, static_cast<size_t>(room));
    room -= static_cast<int>(part);
    return write(fd, data, part);
  });
  EXPECT_TRUE(absl::IsResourceExhausted(log.Append(Piece(kA, 0, {"one"}), "f", 1)));
  EXPECT_THAT(FilesIn(Folder()), IsEmpty());
  room = 10'000;
  ASSERT_TRUE(log.Append(Piece(kA, 0, {"one"}), "f", 1).ok());
  room = 20;
  EXPECT_TRUE(absl::IsResourceExhausted(log.Append(Piece(kA, 4, {std::string(100, 'x')}), "f", 1)));
  error = EIO;
  EXPECT_TRUE(absl::IsInternal(log.Append(Piece(kA, 4, {"two"}), "f", 1)));
  EXPECT_EQ(EndOf(log, kA), 4);
  EXPECT_THAT(ReadAll(log), ElementsAre("one"));
  room = 10'000;
  ASSERT_TRUE(log.Append(Piece(kA, 4, {"two"}), "f", 1).ok());
  EXPECT_THAT(ReadAll(log), ElementsAre("one", "two"));
  JobLog again = Open();
  EXPECT_THAT(ReadAll(again), ElementsAre("one", "two")) << "nothing of the failed writes is left in the file";
}

TEST_F(JobLogTest, WhatIsDamagedIsSaidAndTheRestIsRead) {
  int number = 0;
  {
    JobLog log = Open();
    Write(log, kA, 3000, &number);
  }
  const std::vector<std::string> files = FilesIn(Folder());
  ASSERT_GE(files.size(), 3u);
  std::string bytes = BytesOf(files[0]);
  bytes[bytes.size() / 2] ^= 1;
  SetBytes(files[0], bytes);
  JobLog log = Open();
  int read = 0;
  std::vector<std::string> notes;
  for (const std::string& line : ReadAll(log)) {
    if (line[0] == '<') {
      notes.push_back(line);
    } else {
      ++read;
    }
  }
  EXPECT_THAT(notes, ElementsAre(absl::StrCat("<DAMAGED ", number - read, ">")));
  EXPECT_LT(read, number);
  EXPECT_GT(read, number * 3 / 4);
}

TEST_F(JobLogTest, OtherFilesAreLeftAloneAndDoNotStandInTheWay) {
  std::filesystem::create_directories(Folder());
  SetBytes(Folder() + "/notes.txt", "mine");
  SetBytes(Folder() + "/000000000007.log", "not a log at all");
  std::filesystem::create_directory(Folder() + "/000000000009.log");
  JobLog log = Open();
  EXPECT_THAT(ReadAll(log), IsEmpty());
  ASSERT_TRUE(log.Append(Piece(kA, 0, {"one"}), "f", 1).ok());
  EXPECT_THAT(ReadAll(log), ElementsAre("one"));
  EXPECT_EQ(BytesOf(Folder() + "/000000000007.log"), "not a log at all");
  EXPECT_FALSE(log.RemoveAll().ok()) << "the folder is not empty";
  EXPECT_THAT(FilesIn(Folder()), ElementsAre(Folder() + "/000000000009.log", Folder() + "/notes.txt"));
}

TEST_F(JobLogTest, TheFileOfAnotherJobIsNotShown) {
  {
    JobLog other(Folder(), "other", {.bytes = 1 << 20, .write = WriteAll});
    ASSERT_TRUE(other.Append(Piece(kA, 0, {"a secret"}), "f", 1).ok());
  }
  JobLog log = Open();
  EXPECT_THAT(ReadAll(log), IsEmpty());
  EXPECT_EQ(log.Find(kA), nullptr);
}

TEST_F(JobLogTest, WhatItsNodeCouldNotKeepIsNamedWhereItIsMissing) {
  JobLog log = Open();
  ASSERT_TRUE(log.Append(Piece(kA, 0, {"one"}), "f", 1).ok());
  v1::LogPiece later = Piece(kA, 1000, {"later"});
  later.set_gone(996);
  ASSERT_TRUE(log.Append(later, "f", 1).ok());
  ASSERT_TRUE(log.Append(later, "f", 1).ok()) << "sent again";
  EXPECT_THAT(ReadAll(log), ElementsAre("one", "<NOT_KEPT_BY_NODE 996>", "later"));
}

TEST_F(JobLogTest, TheOnlyFileCanGoAndWhereTrainersStandStays) {
  JobLog log = Open();
  ASSERT_TRUE(log.Append(Piece(kA, 0, {"one", "two"}), "f", 5).ok());
  EXPECT_EQ(log.OldestAt(), 5);
  log.RemoveOldest();
  EXPECT_EQ(log.OldestAt(), std::nullopt);
  EXPECT_EQ(FilesIn(Folder()).size(), 1u);
  ASSERT_TRUE(log.Append(Piece(kA, 0, {"one", "two"}), "f", 5).ok());
  ASSERT_TRUE(log.Append(Piece(kA, 8, {"three"}), "f", 6).ok());
  EXPECT_THAT(ReadAll(log), ElementsAre("<NOT_KEPT 2>", "three"));
  JobLog again = Open();
  EXPECT_THAT(ReadAll(again), ElementsAre("<NOT_KEPT 2>", "three"));
}

TEST_F(JobLogTest, ManyTrainersAreBoundedAndTheEndedGoFirst) {
  JobLog log = Open();
  ASSERT_TRUE(log.Append(Piece(kA, 0, {"lives"}), "f", 0).ok());
  for (size_t i = 0; i < JobLog::kMaxTrainers + 10; ++i) {
    ASSERT_TRUE(log.Append(Last(Piece(absl::StrCat("n/0/", i), 0, {"x"})), "f", static_cast<double>(i)).ok());
  }
  EXPECT_EQ(log.trainers().size(), JobLog::kMaxTrainers);
  EXPECT_NE(log.Find(kA), nullptr);
  EXPECT_EQ(log.Find("n/0/0"), nullptr);
}

}  // namespace
}  // namespace rekindle::coordinator
