// Helps to test the logs on a node, with a folder of files that the tests write in place of trainers, and a coordinator
// that keeps pieces of logs.
#ifndef REKINDLE_WORKER_AGENT_TESTING_AGENT_LOG_TESTING_H_
#define REKINDLE_WORKER_AGENT_TESTING_AGENT_LOG_TESTING_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "common/testing/temporary_folder_testing.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::agent {

class LogFolderTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_ + "/" + name + ".log"; }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::app) << text;
  }
  bool Exists(const std::string& name) const { return std::filesystem::exists(Path(name)); }

  common::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

// Keeps pieces of logs by the coordinator's rule: a piece counts only if it begins where the kept lines of its trainer
// end. The class is thread-compatible.
struct Keeper {
  struct Log {
    std::vector<std::string> lines;
    int64_t end = 0;
    bool last = false;
    int64_t gone = 0;
  };

  v1::LogReply Keep(const v1::LogReport& report) {
    v1::LogReply reply;
    reply.set_process(process);
    for (const v1::LogPiece& piece : report.pieces()) {
      v1::LogPosition& position = *reply.add_positions();
      position.set_job_uid(piece.job_uid());
      position.set_trainer(piece.trainer());
      position.set_not_welcome(unwelcome == piece.job_uid());
      if (position.not_welcome()) continue;
      Log& log = logs[piece.trainer()];
      const bool is_next = piece.begin() - piece.gone() <= log.end && log.end <= piece.begin();
      if (is_next && !is_full) {
        log.gone += piece.begin() - log.end;
        log.lines.insert(log.lines.end(), piece.lines().begin(), piece.lines().end());
        log.end = std::max(log.end, piece.end());
        log.last = piece.last();
      }
      position.set_end(log.end);
      position.set_last(log.last);
    }
    return reply;
  }

  std::string process = "first";
  // `unwelcome` is the uid of a job whose lines the coordinator does not take.
  std::string unwelcome;
  // If `is_full` is set, the keeper acts as if the coordinator's disk were full.
  bool is_full = false;
  std::map<std::string, Log> logs;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_TESTING_AGENT_LOG_TESTING_H_
