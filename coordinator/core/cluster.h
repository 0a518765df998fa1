// The coordinator's core is a pure function: Step(state, event, now) -> effects. It has no clock, thread, socket or
// file. The server feeds events one at a time, persists what Effects names, and only then lets anyone see the new
// state.
//
// `now` is in seconds of a steady clock with any origin, and it never goes back.
#ifndef REKINDLE_COORDINATOR_CORE_CLUSTER_H_
#define REKINDLE_COORDINATOR_CORE_CLUSTER_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/core/state/events.h"
#include "rekindle/v1/job.pb.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/store.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::core {

// A Cluster is the whole volatile and persistent state. It is copyable, so that a simulation can snapshot it.
class Cluster {
 public:
  explicit Cluster(Tunables tunables = {});
  ~Cluster();
  Cluster(const Cluster&);
  Cluster& operator=(const Cluster&);

  // Applies the event to the state, and decides at once all that follows from it.
  Effects Step(const Event& event, double now);
  // Applies the event to the state, but decides nothing. Adds to `effects` the status of a user's verb, and what else
  // the event has caused at once, such as events for users.
  void TakeEvent(const Event& event, double now, Effects* effects);
  // Decides what follows from all events since the last call, first for each job that they concern, then over all jobs
  // and nodes. The caller must call Settle before it asks for directives and views, and before time passes.
  void Settle(double now, Effects* effects);

  // The following functions return what the server answers to a trainer or an agent. The directive's `revision` is
  // always set, and changes whenever another field does. If `known_revision` is the present one, only `revision` is
  // set. Errors are reported in the directive.
  v1::TrainerDirective DirectiveForTrainer(const std::string& job_uid, const std::string& trainer,
                                           int known_revision = 0) const;
  v1::NodeDirective DirectiveForNode(const std::string& node, int known_revision = 0) const;
  // Returns the directive for the agent of the incarnation `agent`, even if another agent has the name `node` now.
  v1::NodeDirective DirectiveForAgent(const std::string& node, const std::string& agent, int known_revision = 0) const;
  // Returns the agent that has the name `node`, if its answer decides whether `agent` gets that name instead. The agent
  // that has the name loses it if it does not report soon. Returns an empty string where nothing is left to decide.
  std::string RivalOf(const std::string& node, const std::string& agent) const;
  // Horizons limit what a node may do without word of the coordinator; see account/spending.h.
  struct Horizons {
    // The node may run for `alone_seconds` seconds without word of the coordinator, or for ever if that is 0.
    double alone_seconds = 0;
    // The jobs on the node may spend until `spend_until`, in Unix seconds. It is infinite without a limit.
    double spend_until = 0;
  };
  Horizons HorizonsOf(const std::string& node) const;
  // Returns the nodes that have slots of at least one of the given jobs.
  std::vector<std::string> NodesOf(const std::set<std::string>& job_uids) const;

  // Returns true from an event `Restored` with `listen_first` until the event `ListenedFirst`. During that time users'
  // verbs are UNAVAILABLE, all other events are kept for later, and nobody may be told anything.
  bool IsListening() const;

  // Returns the error with which the check `what` would refuse `SubmitJob` of the record, or OK. The record's uid and
  // secret need not be set.
  absl::Status CheckSubmit(SubmitCheck what, const v1::JobRecord& record, double now) const;

  // The following functions return views for the user's verbs. FindJob returns null where there is no such job.
  const v1::JobRecord* FindJob(const std::string& name_or_uid) const;
  // Jobs are in the order of their submission. Jobs in the state FOUND come last.
  std::vector<const v1::JobRecord*> Jobs() const;
  // Returns the number of jobs that are not over.
  size_t ActiveJobs() const;
  // Returns at most `at_most` nodes in the order of their names, from the first name after `after` on.
  std::vector<v1::Node> Nodes(double now, const std::string& after = "", size_t at_most = SIZE_MAX) const;
  std::optional<v1::Node> FindNode(double now, const std::string& name) const;
  const PriceBook& Prices() const;

 private:
  struct Impl;
  Impl* impl_;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CLUSTER_H_
