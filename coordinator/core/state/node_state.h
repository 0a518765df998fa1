// Defines what the core knows of a node, and of machines that claim its name.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_NODE_STATE_H_
#define REKINDLE_COORDINATOR_CORE_STATE_NODE_STATE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "coordinator/core/state/job.h"
#include "coordinator/core/state/mark.h"
#include "coordinator/core/state/trainer.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::core {

// A node remembers at most this many past agents.
inline constexpr size_t kMaxPastAgents = 64;

// Holds what the last planning cycle knew of a node. Another cycle is due when it has changed.
struct NodeFacts {
  bool usable = false;
  bool hinted = false;
  int slots = 0;
  int64_t charged_as = 0;
  size_t device = 0;
  bool operator==(const NodeFacts&) const = default;
};

// Describes another machine that reports under a node's name.
struct NameClaim {
  // This identifies the machine, even when its agent has changed.
  std::string machine;
  // The machine's agent that spoke last has this incarnation.
  std::string agent;
  // The machine has the node's incarnation: the same disk after a restart, or a copy of it.
  bool recorded = false;
  // Messages describe the machine by this.
  std::string where;
  // The claim was opened at this time. It is unset if no report was fit.
  double since = kNever;
  // The machine spoke again at this time. The node was asked by then, and these are no last words of a dead machine.
  double again = kNever;
  double heard = 0;
  // The node has spoken since the claim was opened.
  bool answered = false;
  // This says why the machine must wait. It is empty until that is decided.
  std::string refusal;
  // This says what is wrong with the machine's report.
  std::string error;
};

// What every planning cycle reads of each node stands first and together. 10,000 nodes are more than the caches hold.
struct NodeState {
  bool reported = false;
  bool lost = false;
  // The node drains, and its deadline has passed.
  bool overdue = false;
  DirtyMark must_save;
  // Its provider or operator says that its machine has ended, and it has been silent since.
  bool ended = false;
  int probe = 0;
  // The number is new for each node, and whenever its incarnation, pool or slots change.
  int64_t charged_as = 0;
  // This is the hash of the pool's name in its record.
  size_t pool = 0;
  // This is the hash of the kind of device that it reports.
  size_t device = 0;
  NodeFacts planned_as;
  // Maps slots to the uids of the jobs that they serve.
  std::map<int, std::string> slots;
  std::string error;
  v1::NodeRecord record;
  v1::NodeReport report;
  double heard = -kNever;
  double known_since = 0;
  // This mirrors record.silent_since (forgetting.h).
  double lost_since = kNever;
  double drain_deadline = kNever;
  // The node was first probed at this time. It has answered if `heard` is later.
  double asked_at = -kNever;
  // The node was ordered, and has served nobody since this time.
  double idle_since = kNever;
  // There are few claims (name_claims.cc).
  std::vector<NameClaim> claims;
  // Reports of these earlier agents of the node's folder are stale.
  RecentNames past_agents{kMaxPastAgents};
};

// Returns whether that slot of the node serves the job.
bool Serves(const NodeState& node, int slot, const Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_NODE_STATE_H_
