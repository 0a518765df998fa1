// Runs the one thread that owns the coordinator's state. It takes what arrived, steps the core, makes the result
// durable in one transaction, and only then lets anyone see it. All reports that arrive while one transaction is
// written share the next one.
//
// While the store cannot be written, nothing is published and the core is not stepped. Polls then end with UNAVAILABLE
// at their deadline, changes are refused, and reads answer what was last published. Trainers go on stepping.
#ifndef REKINDLE_COORDINATOR_SERVER_LOOP_LOOP_H_
#define REKINDLE_COORDINATOR_SERVER_LOOP_LOOP_H_

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/agreed/cluster_identity.h"
#include "common/metrics/metrics.h"
#include "coordinator/core/cluster.h"
#include "coordinator/server/boards/journal.h"
#include "coordinator/server/loop/core_clock.h"
#include "coordinator/server/loop/decisions.h"
#include "coordinator/server/loop/directive_polls.h"
#include "coordinator/server/loop/held_reports.h"
#include "coordinator/server/loop/loop_inbox.h"
#include "coordinator/server/loop/outage.h"
#include "coordinator/server/loop/published_state.h"
#include "coordinator/server/loop/publisher.h"
#include "coordinator/store/state_store.h"

namespace rekindle::coordinator {

class Loop {
 public:
  struct Options {
    Clocks clocks;
    common::ClusterIdentity identity;
    core::Tunables tunables;
    core::PriceBook prices;
    core::CarbonBook carbon;
    // Before it decides anything, the coordinator only listens to nodes and trainers for `listen_seconds` seconds. 0
    // means that it trusts its records at once.
    double listen_seconds = 0;
    // `on_listened` is called when the coordinator has listened for long enough. It returns the identity under which
    // the coordinator decides from now on, and what has to be durable together with the first decision.
    std::function<std::pair<common::ClusterIdentity, std::vector<Write>>()> on_listened = nullptr;
    // `on_serving` is called on the loop's thread when it becomes possible to write the store (true), or impossible
    // (false).
    std::function<void(bool)> on_serving = [](bool) {};
    // `on_alert` is called on the loop's thread with a durable event that somebody should look at, such as one of a
    // budget. It must return at once.
    std::function<void(const v1::Event&)> on_alert = [](const v1::Event&) {};
    // `on_orders` is called on the loop's thread with how many nodes pools have to have, once that is durable. It must
    // return at once.
    std::function<void(const std::vector<core::PoolOrder>&)> on_orders = [](const std::vector<core::PoolOrder>&) {};
    // `take_notices` returns the new events of the coordinator's own machine, such as a full disk, each event once. The
    // function is called on the loop's thread, between two transactions.
    std::function<std::vector<v1::Event>()> take_notices = [] { return std::vector<v1::Event>(); };
    // `on_forgotten` is called on the loop's thread with the uid of a job that was durably forgotten. It must return at
    // once.
    std::function<void(const std::string& uid)> on_forgotten = [](const std::string&) {};
    // `on_fatal` is called on the loop's thread when another process writes the coordinator's store. The coordinator's
    // process must then end.
    std::function<void(const absl::Status&)> on_fatal = [](const absl::Status&) {};
  };

  // While two agents claim the name of one node and it is undecided which of them has it, a poll of either agent lasts
  // at most `kUndecidedSeconds` seconds.
  static constexpr double kUndecidedSeconds = 0.1;

  // The caller keeps the ownership of the store and the metrics, which must outlive the loop.
  Loop(StateStore* store, common::Metrics* metrics, Options options);
  ~Loop() { Stop(); }
  Loop(const Loop&) = delete;

  // Reads the store and starts the thread. Returns the store's errors.
  absl::Status Start();
  // Answers everything that waits with UNAVAILABLE and ends the thread. It is idempotent, and must not be called on the
  // loop's thread.
  void Stop();

  // Takes note that another coordinator of the cluster has taken over. From now on every call is answered with `why`
  // (FAILED_PRECONDITION), and nothing is decided any more. `writes` are made durable, and `done` is called on the
  // loop's thread after the last decision. It may be called before Start.
  void Supersede(std::vector<Write> writes, const std::string& why, std::function<void()> done);
  // Returns the inbox, which takes what other threads hand to the loop. It may be used from any thread.
  LoopInbox& inbox() { return inbox_; }
  LeaseBook& leases() { return published_.leases; }
  JobFileBook& job_files() { return published_.job_files; }

  // The functions below must be called on the loop's thread.
  // Returns why all calls are refused, or OK while they are answered.
  const absl::Status& ended() const { return ended_; }
  // Returns the error with which every change is refused now, or OK while changes are taken.
  absl::Status WhyNoChange() const;
  double now() const { return clock_.Now(); }
  double unix_now() const { return clock_.UnixNow(); }
  // Returns the time of the core's clock (core_clock.h).
  double core_now() const { return clock_.CoreNow(); }
  const core::Cluster& cluster() const { return cluster_; }
  const JobBoard& jobs() const { return published_.jobs; }
  const LogSenders& log_senders() const { return polls_.log_senders(); }
  const PoolBoard& pools() const { return published_.pools; }
  const JobMetrics& job_metrics() const { return published_.job_metrics; }
  JobMetrics& job_metrics() { return published_.job_metrics; }
  StateStore& store() { return *store_; }
  Bulletin& bulletin() { return published_.bulletin; }

 private:
  absl::Status Restore();
  void Run();
  void Turn(std::vector<LoopItem> items);
  void Handle(TrainerItem& item);
  void Handle(NodeItem& item);
  void Handle(Mutation& mutation) { decisions_.Take(std::move(mutation)); }
  void Handle(core::PoolReported& report);
  void Handle(LoopTask& task) { task(); }
  void EndListening();
  void CommitAndPublish();
  void CommitFailed(const absl::Status& error);
  void EndOutage();
  // Makes known what has become durable: sends the answers and orders that waited for it, and wakes those who watch.
  void Publish(Unpublished& durable, const std::vector<v1::Event>& events);
  void AnswerLeases(const std::vector<core::LeaseQuestion>& questions);
  void TakeNotices();
  // Refuses everything that waits when the loop stops. If the coordinator was superseded, that fact is saved for its
  // next start.
  void EndWith(std::vector<LoopItem> items);
  // Runs instead of Turn after the coordinator was superseded. It refuses everything, and makes that fact durable.
  void BeSilent(std::vector<LoopItem> items);
  void RefuseAll(std::vector<LoopItem> items);
  double NextWake() const;
  // Returns why no directive is given out, or OK when directives are given out.
  absl::Status WhySilent() const;

  StateStore* const store_;
  const Options options_;
  prometheus::Histogram& commit_seconds_;
  prometheus::Counter& commit_failures_;

  std::thread thread_;

  // Only the loop's thread may use the members below, except for the inbox, `published_.leases`, `published_.job_files`
  // and the steady clock.
  CoreClock clock_;
  LoopInbox inbox_;
  core::Cluster cluster_;
  Journal journal_;
  PublishedState published_;
  Decisions decisions_;
  Publisher publisher_;
  DirectivePolls polls_;
  Outage outage_;
  HeldReports held_;
  double last_tick_ = 0;
  double listens_until_ = 0;
  absl::Status ended_;
  // `on_silent_` is set when the coordinator was superseded, and called once every waiting call has been answered.
  std::function<void()> on_silent_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOOP_LOOP_H_
