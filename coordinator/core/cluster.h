// The coordinator is a pure function: Step(state, event, now) -> effects. There is no clock, thread, socket or file
// here. The server feeds events one at a time, persists what Effects names, and only then lets anyone see the new
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

  // Takes the event in, and decides at once.
  Effects Step(const Event& event, double now);
  // Takes an event in. What it says is known from now on, but nothing is decided. Adds a status and events to
  // `effects`.
  void TakeEvent(const Event& event, double now, Effects* effects);
  // Decides with all events that were taken, first for each job that they concern, then over all jobs and nodes. The
  // caller must do so before it asks for directives and views, and before time passes.
  void Settle(double now, Effects* effects);

  // The following functions return what to answer. `revision` is set and changes whenever the rest does. The rest is
  // left out where the caller knows that revision. Errors are inside the directive.
  v1::TrainerDirective DirectiveForTrainer(const std::string& job_uid, const std::string& trainer,
                                           int known_revision = 0) const;
  v1::NodeDirective DirectiveForNode(const std::string& node, int known_revision = 0) const;
  // Returns the directive for the agent of that incarnation, as another one may have its node's name.
  v1::NodeDirective DirectiveForAgent(const std::string& node, const std::string& agent, int known_revision = 0) const;
  // Returns the agent whose answer decides whether `agent` gets its node's name, so that it has to speak again soon.
  // Returns an empty string where that is decided.
  std::string RivalOf(const std::string& node, const std::string& agent) const;
  // Horizons limit what a node may do without word of the coordinator; see account/spending.h.
  struct Horizons {
    double alone_seconds = 0;  // Seconds; 0 for ever.
    double spend_until = 0;    // Unix seconds; infinite without a limit.
  };
  Horizons HorizonsOf(const std::string& node) const;
  // Returns the nodes with slots of one of these jobs.
  std::vector<std::string> NodesOf(const std::set<std::string>& job_uids) const;

  // Returns true after Restored, until ListenedFirst. During that time users' verbs are UNAVAILABLE, everything else is
  // kept for later, and nobody may be told anything.
  bool IsListening() const;

  // Returns the error with which SubmitJob of that record would be refused for that reason, or OK. The record's uid and
  // secret need not be set.
  absl::Status CheckSubmit(SubmitCheck what, const v1::JobRecord& record, double now) const;

  // The following functions return views for the user's verbs. FindJob returns null where there is no such job.
  const v1::JobRecord* FindJob(const std::string& name_or_uid) const;
  // Jobs come in order of submission, and those that are FOUND last.
  std::vector<const v1::JobRecord*> Jobs() const;
  // Returns the number of jobs that are not over.
  size_t ActiveJobs() const;
  // Returns nodes by name, at most `at_most` of those behind `after`.
  std::vector<v1::Node> Nodes(double now, const std::string& after = "", size_t at_most = SIZE_MAX) const;
  std::optional<v1::Node> FindNode(double now, const std::string& name) const;
  const PriceBook& Prices() const;

 private:
  struct Impl;
  Impl* impl_;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CLUSTER_H_
