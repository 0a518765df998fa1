// Serves Nodes.KeepLines and Coordinator.ReadLog: lines come in from nodes and go out to users. The loop answers what
// is known of jobs and nodes. The desk handles the files.
#ifndef REKINDLE_COORDINATOR_SERVER_SERVICES_LOG_STREAMS_H_
#define REKINDLE_COORDINATOR_SERVER_SERVICES_LOG_STREAMS_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "coordinator/logs/log_desk.h"
#include "coordinator/logs/log_feed.h"
#include "coordinator/server/loop/loop.h"
#include "rekindle/v1/coordinator.pb.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::coordinator {

// Returns whether that node may add lines to the log of that job and trainer. Lines are kept only after this check. It
// must be called on the loop's thread.
bool MayAddLines(const Loop& loop, const v1::LogReport& report, const v1::LogPiece& piece);
// Returns whether the job runs or has run on that node. It must be called on the loop's thread.
bool RunsThere(const Loop& loop, const v1::LogReport& report, const v1::LogPiece& piece);

// This class is thread-safe.
class LogStreams {
 public:
  // A report may have at most `kMaxPieces` pieces.
  static constexpr int kMaxPieces = 1024;

  // The caller keeps the ownership of `loop` and `desk`, which must outlive all calls. `process` distinguishes this
  // process of the coordinator from every other one.
  LogStreams(Loop* loop, LogDesk* desk, std::string process);

  // Answers through `reactor`. The request and the reply must live until then.
  void Keep(const v1::LogReport* request, v1::LogReply* reply, grpc::ServerUnaryReactor* reactor);
  // Starts a call that deletes itself when it is over. It ends with NOT_FOUND when the job does not exist, or not any
  // more.
  grpc::ServerWriteReactor<v1::LogLines>* Read(grpc::CallbackServerContext* context, const v1::ReadLogRequest& request);

 private:
  class ReadCall;

  void KeepOnLoop(const v1::LogReport* request, v1::LogReply* reply, grpc::ServerUnaryReactor* reactor);
  // Returns a list of the nodes that is at most about a second old. It must be called on the loop's thread.
  std::shared_ptr<const LogNodes> Nodes();

  Loop* const loop_;
  LogDesk* const desk_;
  const std::string process_;
  // Only the loop's thread may use `nodes_` and `nodes_at_`.
  std::shared_ptr<const LogNodes> nodes_;
  double nodes_at_ = 0;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_SERVICES_LOG_STREAMS_H_
