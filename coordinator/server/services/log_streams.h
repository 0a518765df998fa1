// Serves Nodes.KeepLines, with which nodes send lines of logs, and Coordinator.ReadLog, with which users read them. The
// loop's thread knows the jobs and nodes. The thread of the LogDesk reads and writes the files of the logs.
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

// Returns whether the node that sent `report` may add lines to the log that `piece` belongs to, which is that of one
// trainer of one job. Lines are kept only after such a check. MayAddLines must be called on the loop's thread.
bool MayAddLines(const Loop& loop, const v1::LogReport& report, const v1::LogPiece& piece);
// Returns whether the job whose log `piece` belongs to runs or has run on the node that sent `report`. RunsThere must
// be called on the loop's thread.
bool RunsThere(const Loop& loop, const v1::LogReport& report, const v1::LogPiece& piece);

// LogStreams is thread-safe.
class LogStreams {
 public:
  // A report may have at most `kMaxPieces` pieces of logs.
  static constexpr int kMaxPieces = 1024;

  // The caller keeps the ownership of `loop` and `desk`, which must outlive all calls. `process` distinguishes the
  // present process of the coordinator from every other one.
  LogStreams(Loop* loop, LogDesk* desk, std::string process);

  // Answers a call of KeepLines through `reactor`. The request and the reply must live until then.
  void Keep(const v1::LogReport* request, v1::LogReply* reply, grpc::ServerUnaryReactor* reactor);
  // Starts a call of ReadLog that deletes itself when it is over. It ends with NOT_FOUND when the job does not exist,
  // or not any more.
  grpc::ServerWriteReactor<v1::LogLines>* Read(grpc::CallbackServerContext* context, const v1::ReadLogRequest& request);

 private:
  class ReadCall;

  void KeepOnLoop(const v1::LogReport* request, v1::LogReply* reply, grpc::ServerUnaryReactor* reactor);
  // Returns a list of the nodes that is at most about a second old. It must be called on the loop's thread.
  std::shared_ptr<const LogNodes> Nodes();

  Loop* const loop_;
  LogDesk* const desk_;
  const std::string process_;
  // `nodes_` is the list of nodes that Nodes has returned last, and `nodes_at_` is when the list was read. Only the
  // loop's thread may use `nodes_` and `nodes_at_`.
  std::shared_ptr<const LogNodes> nodes_;
  double nodes_at_ = 0;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_SERVICES_LOG_STREAMS_H_
