// Defines what the core knows of a node, and of machines that claim its name.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_NODE_STATE_H_
#define REKINDLE_COORDINATOR_CORE_STATE_NODE_STATE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "coordinator/core/state/job.h"
#include "coordinator/core/state/mark.h"
#include "coordinator/core/state/trainer.h"
#include "coordinator/scheduler/demand.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::core {

// A node remembers at most this many of its past agents.
inline constexpr size_t kMaxPastAgents = 64;

// Holds what the last planning cycle knew of a node. Another cycle is due when any of it has changed.
struct NodeFacts {
  bool usable = false;
  bool hinted = false;
  int slots = 0;
  // `failed` is a digest of the numbers of the slots that have failed.
  size_t failed = 0;
  int64_t charged_as = 0;
  size_t device = 0;
  scheduler::OwnCode runs = scheduler::OwnCode::kNone;
  size_t code_words = 0;
  bool operator==(const NodeFacts&) const = default;
};

// Returns what is wrong with a slot of the node, or null if a trainer can run there.
inline const v1::SlotFault* FaultOf(const v1::NodeReport& report, int slot) {
  for (const v1::SlotFault& fault : report.slot_faults()) {
    if (fault.slot() == slot) return &fault;
  }
  return nullptr;
}
// Returns why the node cannot start a trainer of the job, or null if the node has not reported such trouble.
inline const v1::StartTrouble* StartTroubleOf(const v1::NodeReport& report, const std::string& job_uid) {
  for (const v1::StartTrouble& trouble : report.start_troubles()) {
    if (trouble.job_uid() == job_uid) return &trouble;
  }
  return nullptr;
}
// Returns the number of slots in which trainers can run.
inline int UsableSlots(const v1::NodeReport& report) { return report.slots() - report.slot_faults_size(); }

// Describes another machine that reports under a node's name.
struct NameClaim {
  // `machine` identifies the machine, even when its agent has changed.
  std::string machine;
  // `agent` is the incarnation of the machine's agent that spoke last.
  std::string agent;
  // `recorded` says that the machine reports the incarnation in the node's record. So it has the node's disk, or a
  // copy.
  bool recorded = false;
  // `where` describes the machine in messages.
  std::string where;
  // `since` is when the claim was opened. It is unset while all reports of the machine had an error.
  double since = kNever;
  // `again` is when the machine reported for the second time. That shows that the machine still lived when its claim
  // had been opened and the node had been probed.
  double again = kNever;
  double heard = 0;
  // `answered` says that the node has spoken since the claim was opened.
  bool answered = false;
  // `refusal` says why the machine must wait. It is empty until that is decided.
  std::string refusal;
  // `error` says what is wrong with the machine's report.
  std::string error;
};

// The fields that every planning cycle reads of each node stand first and together, because 10,000 nodes are more than
// the caches hold.
struct NodeState {
  bool reported = false;
  bool lost = false;
  // `overdue` says that the node drains, and that its deadline has passed.
  bool overdue = false;
  DirtyMark must_save;
  // `ended` says that the node's machine has ended, as its provider or operator says, and that it has been silent
  // since.
  bool ended = false;
  int probe = 0;
  // `charged_as` is a number that no other node has. The node gets a new one whenever its incarnation, pool or slots
  // change, so that equal numbers prove that jobs are charged for the node as before.
  int64_t charged_as = 0;
  // `pool` is the hash of the name of the pool in the node's record.
  size_t pool = 0;
  // `device` is the hash of the kind of device that the node reports.
  size_t device = 0;
  // `runs` says which jobs the node can run, as it reports (own_code.h). `code_words` is the hash of what it says of
  // that, which the reasons of jobs that wait repeat.
  scheduler::OwnCode runs = scheduler::OwnCode::kNone;
  size_t code_words = 0;
  NodeFacts planned_as;
  // `slots` maps slots to the uids of the jobs that they serve.
  std::map<int, std::string> slots;
  std::string error;
  v1::NodeRecord record;
  v1::NodeReport report;
  double heard = -kNever;
  double known_since = 0;
  // `lost_since` mirrors `record.silent_since` (forgetting.h).
  double lost_since = kNever;
  double drain_deadline = kNever;
  // `asked_at` is when the node was first probed after it last spoke. It has answered if `heard` is later.
  double asked_at = -kNever;
  // `idle_since` is since when the node, which was ordered, has served nobody.
  double idle_since = kNever;
  // `claims` holds the other machines that claim the node's name. There are few (name_claims.cc).
  std::vector<NameClaim> claims;
  // `past_agents` holds the earlier agents of the node's folder. Their reports are stale.
  RecentNames past_agents{kMaxPastAgents};
};

// Returns whether any slot of the node serves the job with that uid.
inline bool HoldsSlotOf(const NodeState& node, const std::string& job_uid) {
  return std::any_of(node.slots.begin(), node.slots.end(), [&](const auto& slot) { return slot.second == job_uid; });
}
// Returns whether that slot of the node serves the job.
bool Serves(const NodeState& node, int slot, const Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_NODE_STATE_H_
