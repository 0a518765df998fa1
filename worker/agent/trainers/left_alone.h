// Keeps what earlier directives wanted of this node's trainers whose jobs the coordinator has no record of. These
// trainers are left alone. The coordinator makes a record of the job from what this node reports and from the job's
// checkpoint store.
#ifndef REKINDLE_WORKER_AGENT_TRAINERS_LEFT_ALONE_H_
#define REKINDLE_WORKER_AGENT_TRAINERS_LEFT_ALONE_H_

#include <map>
#include <set>
#include <string>

#include "rekindle/v1/node.pb.h"
#include "worker/agent/folder/node_folder.h"

namespace rekindle::agent {

// LeftAlone is thread-compatible.
class LeftAlone {
 public:
  // `folder` is the node's folder, and it must outlive this object.
  explicit LeftAlone(const NodeFolder* folder) : folder_(folder) {}

  // Takes from a directive which jobs the coordinator has no record of, and reads from the job files what was wanted of
  // their trainers. `running` has the uid of each running trainer's job, keyed by slot.
  void Take(const v1::NodeDirective& directive, const std::map<int, std::string>& running);

  // Returns the checkpoint stores to read because the coordinator asks about them, keyed by job uid.
  std::map<std::string, std::string> StoresToRead() const;
  // Fills in `left_alone` of the node's report, which says what was wanted of the trainers that are left alone.
  void Report(v1::NodeReport* report) const;

 private:
  const NodeFolder* const folder_;
  // `wanted_` has what was wanted of one trainer of each job that is left alone, keyed by job uid.
  std::map<std::string, v1::DesiredTrainer> wanted_;
  // `to_read_` has the uids of jobs whose checkpoint stores the coordinator asks about.
  std::set<std::string> to_read_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_TRAINERS_LEFT_ALONE_H_
