// Which nodes may send output of a job: those on which it runs or has. Thread-compatible: the loop's thread owns it.
#ifndef REKINDLE_COORDINATOR_SERVER_LOG_SENDERS_H_
#define REKINDLE_COORDINATOR_SERVER_LOG_SENDERS_H_

#include <string>

#include "coordinator/core/cluster.h"
#include "coordinator/core/recent.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::coordinator {

class LogSenders {
 public:
  // What the node is told to run. Its trainers' last lines come when it is told so no more.
  void Told(const std::string& node, const v1::NodeDirective& directive);
  // Whether the job runs on that node, or has. Of one that is FOUND the nodes alone know where it runs.
  bool May(const std::string& node, const std::string& job_uid, const core::Cluster& cluster) const;

 private:
  static constexpr size_t kMost = 100'000;  // Pairs of a node and a job; those that were set longest ago are forgotten.

  core::Recent<bool> known_{kMost};
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOG_SENDERS_H_
