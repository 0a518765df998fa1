// Nodes.KeepLines and Coordinator.ReadLog: lines in from nodes, out to users. What is known of jobs and nodes is asked
// of the loop; files are the desk's.
#ifndef REKINDLE_COORDINATOR_SERVER_LOG_STREAMS_H_
#define REKINDLE_COORDINATOR_SERVER_LOG_STREAMS_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "coordinator/logs/log_desk.h"
#include "coordinator/logs/log_feed.h"
#include "coordinator/server/loop.h"
#include "rekindle/v1/coordinator.pb.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::coordinator {

// May that node add lines to the log of that job and trainer? All that is asked before lines are kept. On the loop's
// thread.
bool MayAddLines(const Loop& loop, const v1::LogReport& report, const v1::LogPiece& piece);
// Does the job run on that node, or has it? On the loop's thread.
bool RunsThere(const Loop& loop, const v1::LogReport& report, const v1::LogPiece& piece);

// Thread-safe.
class LogStreams {
 public:
  static constexpr int kMaxPieces = 1024;  // A report.

  // Both are not owned, and outlive all calls. `process`: tells this process of the coordinator from every other.
  LogStreams(Loop* loop, LogDesk* desk, std::string process);

  // Answers through `reactor`, until when request and reply stay where they are.
  void Keep(const v1::LogReport* request, v1::LogReply* reply, grpc::ServerUnaryReactor* reactor);
  // Deletes itself when the call is over. NOT_FOUND: no such job, or not any more.
  grpc::ServerWriteReactor<v1::LogLines>* Read(grpc::CallbackServerContext* context, const v1::ReadLogRequest& request);

 private:
  class ReadCall;

  void KeepOnLoop(const v1::LogReport* request, v1::LogReply* reply, grpc::ServerUnaryReactor* reactor);
  // Not older than a second. On the loop's thread.
  std::shared_ptr<const LogNodes> Nodes();

  Loop* const loop_;
  LogDesk* const desk_;
  const std::string process_;
  std::shared_ptr<const LogNodes> nodes_;  // The loop's thread only, as is the next.
  double nodes_at_ = 0;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOG_STREAMS_H_
