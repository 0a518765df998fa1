// Knows which nodes may send output of a job: those on which it runs or has run. The class is thread-compatible: the
// loop's thread owns it.
#ifndef REKINDLE_COORDINATOR_SERVER_BOARDS_LOG_SENDERS_H_
#define REKINDLE_COORDINATOR_SERVER_BOARDS_LOG_SENDERS_H_

#include <string>

#include "coordinator/core/cluster.h"
#include "coordinator/core/state/recent.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::coordinator {

class LogSenders {
 public:
  // Remembers which jobs the directive tells the node to run. The node may send lines of these jobs even after a later
  // directive, because trainers write their last lines while they are being stopped.
  void Told(const std::string& node, const v1::NodeDirective& directive);
  // Returns whether the job runs or has run on the node. A job in state FOUND may run on any node, because only the
  // nodes know where it runs.
  bool May(const std::string& node, const std::string& job_uid, const core::Cluster& cluster) const;

 private:
  // The coordinator remembers at most `kMost` pairs of a node and a job that the node was told to run. It forgets the
  // pair of which a directive told longest ago.
  static constexpr size_t kMost = 100'000;

  core::Recent<bool> known_{kMost};
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_BOARDS_LOG_SENDERS_H_
