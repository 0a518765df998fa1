// Holds whether this node may use its name. Another machine may have the name, or may ask for it. Each change is logged
// once.
#ifndef REKINDLE_WORKER_AGENT_DECISIONS_NAME_STATE_H_
#define REKINDLE_WORKER_AGENT_DECISIONS_NAME_STATE_H_

#include <string>

#include "common/log/log.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::agent {

class NameState {
 public:
  void Take(const v1::NodeDirective& directive) {
    if (directive.name_in_use() != in_use_) {
      in_use_ = directive.name_in_use();
      if (in_use_.empty()) log::Info("the node has its name: the other machine is gone");
      if (!in_use_.empty()) log::Error("not accepted by the coordinator: waiting", {{"error", in_use_}});
    }
    if (directive.name_claimed() == claimed_) return;
    claimed_ = directive.name_claimed();
    if (claimed_.empty()) log::Info("no other machine gives this node's name any more");
    if (!claimed_.empty()) log::Warning("this node's name is asked for: it goes on", {{"reason", claimed_}});
  }

  // Returns whether another machine has this node's name. No trainer may run on this node then.
  bool waits() const { return !in_use_.empty(); }

 private:
  std::string in_use_;
  std::string claimed_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_DECISIONS_NAME_STATE_H_
