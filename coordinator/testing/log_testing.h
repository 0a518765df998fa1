// Helps tests of logs: LogTest has a folder that disappears with the test, and functions make pieces of logs and
// collect what a reader reads.
#ifndef REKINDLE_COORDINATOR_TESTING_LOG_TESTING_H_
#define REKINDLE_COORDINATOR_TESTING_LOG_TESTING_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/testing/temporary_folder_testing.h"
#include "coordinator/logs/job_log.h"

namespace rekindle::coordinator {

class LogTest : public testing::Test {
 protected:
  // FilesIn lists the files of a folder, BytesOf reads a file, and SetBytes writes one.
  static std::vector<std::string> FilesIn(const std::string& folder) {
    std::vector<std::string> files;
    if (!std::filesystem::exists(folder)) return files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }
  static std::string BytesOf(const std::string& path) {
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    return bytes.str();
  }
  static void SetBytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  common::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

// Makes a piece of a trainer's log from whole lines. It begins at position `begin`.
inline v1::LogPiece Piece(const std::string& trainer, int64_t begin, const std::vector<std::string>& lines,
                          const std::string& job_uid = "job") {
  v1::LogPiece piece;
  piece.set_job_uid(job_uid);
  piece.set_trainer(trainer);
  piece.set_begin(begin);
  int64_t end = begin;
  for (const std::string& line : lines) {
    piece.add_lines(line);
    end += static_cast<int64_t>(line.size()) + 1;
  }
  piece.set_end(end);
  return piece;
}

inline v1::LogPiece Last(v1::LogPiece piece) {
  piece.set_last(true);
  return piece;
}

inline std::string Text(const v1::LogLine& line) {
  if (!line.has_gap()) return line.text();
  const v1::LogGap& gap = line.gap();
  const double count = std::max(gap.lines(), gap.bytes());
  return absl::StrCat("<", v1::LogGap::Reason_Name(gap.reason()), count > 0 ? absl::StrCat(" ", count) : "", ">");
}

// Reads all lines and notes of a log from the cursor on, as texts.
inline std::vector<std::string> ReadAll(JobLog& log, LogCursor* cursor) {
  std::vector<std::string> all;
  for (bool more = true; more;) {
    const LogPage page = log.Read(cursor);
    for (const LogItem& item : page.items) all.push_back(Text(item.line));
    more = page.more;
  }
  return all;
}
inline std::vector<std::string> ReadAll(JobLog& log) {
  LogCursor cursor;
  return ReadAll(log, &cursor);
}

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_TESTING_LOG_TESTING_H_
