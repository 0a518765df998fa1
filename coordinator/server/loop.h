// The one thread that owns the coordinator's state: takes what arrived, steps the core, makes the result durable in one
// transaction, and only then lets anyone see it. However many reports arrived meanwhile, they share the transaction.
//
// When the store cannot be written, nothing is published and nothing stepped until it can: polls end with UNAVAILABLE
// at their deadline, changes are refused, reads answer what was last published. Trainers go on stepping.
#ifndef REKINDLE_COORDINATOR_SERVER_LOOP_H_
#define REKINDLE_COORDINATOR_SERVER_LOOP_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "common/clock.h"
#include "common/cluster_identity.h"
#include "common/metrics.h"
#include "coordinator/bulletin.h"
#include "coordinator/core/cluster.h"
#include "coordinator/server/job_board.h"
#include "coordinator/server/job_file_book.h"
#include "coordinator/server/journal.h"
#include "coordinator/server/lease_book.h"
#include "coordinator/server/log_senders.h"
#include "coordinator/server/metrics/job_metrics.h"
#include "coordinator/server/poll_table.h"
#include "coordinator/server/pool_board.h"
#include "coordinator/state_store.h"

namespace rekindle::coordinator {

class Loop {
 public:
  // What time it is, in seconds. Thread-safe. `boot` goes on while the machine sleeps and `steady` does not, nor does
  // it ever go back; `wall` is Unix time, which is set now and then.
  struct Clocks {
    std::function<double()> steady = common::SteadySeconds;
    std::function<double()> boot = common::BootSeconds;
    std::function<double()> wall = common::WallSeconds;
  };
  struct Options {
    Clocks clocks;
    common::ClusterIdentity identity;
    core::Tunables tunables;
    core::PriceBook prices;
    core::CarbonBook carbon;
    double listen_seconds = 0;  // Before anything is decided; 0: the records are what runs.
    // So long has been listened. Gives as whom it decides from now on, and what is to be durable with the first
    // decision.
    std::function<std::pair<common::ClusterIdentity, std::vector<Write>>()> on_listened = nullptr;
    // Whether the store can be written, when that changes. On the loop's thread.
    std::function<void(bool)> on_serving = [](bool) {};
    // Somebody should look: a budget. Durable by now. On the loop's thread: must return at once.
    std::function<void(const v1::Event&)> on_alert = [](const v1::Event&) {};
    // What pools are to have. Durable by now. On the loop's thread: must return at once.
    std::function<void(const std::vector<core::PoolOrder>&)> on_orders = [](const std::vector<core::PoolOrder>&) {};
    // What the coordinator has to say of its own machine, once each. On the loop's thread, between two transactions.
    std::function<std::vector<v1::Event>()> take_notices = [] { return std::vector<v1::Event>(); };
    // Jobs that are forgotten, by uid, durably by now. On the loop's thread: must return at once.
    std::function<void(const std::string& uid)> on_forgotten = [](const std::string&) {};
    // Another process writes this store: this one must end. On the loop's thread.
    std::function<void(const absl::Status&)> on_fatal = [](const absl::Status&) {};
  };
  using TrainerKey = std::pair<std::string, std::string>;  // Job uid, trainer.
  using TrainerPolls = PollTable<TrainerKey, v1::TrainerDirective>;
  using NodeKey = std::pair<std::string, std::string>;  // Node, incarnation of its agent.
  using NodePolls = PollTable<NodeKey, v1::NodeDirective>;

  // What a user changes. All functions run on the loop's thread; `done` once, always.
  struct Mutation {
    std::string request_id;  // Empty: none.
    std::string call;        // What was asked; another call must not reuse the id.
    std::function<absl::StatusOr<core::Event>()> event;
    std::function<absl::StatusOr<std::string>()> answer;  // The serialized reply, after the step.
    std::function<void(absl::StatusOr<std::string>)> done;
  };

  static constexpr double kMaxWaitSeconds = 30;  // Of a poll.
  static constexpr size_t kMaxQueue = 100'000;
  static constexpr double kUndecidedSeconds = 0.1;  // A poll of an agent that awaits its node's name.

  // Store and metrics are not owned and outlive the loop.
  Loop(StateStore* store, common::Metrics* metrics, Options options);
  ~Loop() { Stop(); }
  Loop(const Loop&) = delete;

  // Reads the store and starts the thread. The store's errors.
  absl::Status Start();
  // Answers all that waits with UNAVAILABLE and ends the thread. Idempotent; not from the loop's thread.
  void Stop();

  // From any thread. Replies come on the loop's thread, or at once where the queue is full or the loop has stopped.
  void Sync(v1::TrainerReport report, TrainerPolls::Reply reply);
  void Sync(v1::NodeReport report, NodePolls::Reply reply, NodePolls::Alive alive);
  void Apply(Mutation mutation);
  void SetPrices(core::PriceBook prices);
  void HearPrice(core::PriceHeard heard);
  void SetCarbon(core::CarbonBook carbon);
  // What a provider says of a pool. While the store fails it is kept until it can be acted upon.
  void Report(core::PoolReported report);
  // Another coordinator of the cluster has taken over: all that waits, and whatever comes, is answered with `why`
  // (FAILED_PRECONDITION), and nothing is decided any more. `writes` are made durable, and `done` is called on the
  // loop's thread when the last decision was made. Before Start too.
  void Supersede(std::vector<Write> writes, const std::string& why, std::function<void()> done);
  // Runs `task` on the loop's thread. UNAVAILABLE: the loop has stopped or has too much to do; it will not run.
  absl::Status Post(std::function<void()> task);

  LeaseBook& leases() { return leases_; }
  JobFileBook& job_files() { return job_files_; }

  // The rest on the loop's thread only.
  const absl::Status& ended() const { return ended_; }  // Why nobody is answered any more; OK: everybody is.
  absl::Status WhyNoChange() const;                     // The refusal of every mutation now; OK: none is refused.
  double now() const;
  double unix_now() const { return now() + unix_offset_; }
  // The core's clock: it stands still while the store fails and while the machine sleeps, so that nobody is found
  // silent who could not be heard. What passes meanwhile is charged all the same (core::ClockSet).
  double core_now() const;
  const core::Cluster& cluster() const { return cluster_; }
  const JobBoard& jobs() const { return jobs_; }
  const LogSenders& log_senders() const { return log_senders_; }
  const PoolBoard& pools() const { return pools_; }
  const JobMetrics& job_metrics() const { return job_metrics_; }
  JobMetrics& job_metrics() { return job_metrics_; }
  StateStore& store() { return *store_; }
  Bulletin& bulletin() { return bulletin_; }

 private:
  struct TrainerItem {
    v1::TrainerReport report;
    TrainerPolls::Reply reply;
    double deadline;
  };
  struct NodeItem {
    v1::NodeReport report;
    NodePolls::Reply reply;
    NodePolls::Alive alive;
    double deadline;
  };
  using Task = std::function<void()>;
  using Item = std::variant<TrainerItem, NodeItem, Mutation, core::PoolReported, Task>;

  // What was stepped but not yet published.
  struct Unpublished {
    std::set<std::string> changed_jobs;   // Uids whose status changed.
    std::set<std::string> touched_jobs;   // Uids whose directives may have changed.
    std::set<std::string> touched_nodes;  // Their own directives only.
    bool touched_all = false;
    std::vector<Mutation> unanswered;  // Taken in, and to be answered with what was decided.
    std::set<std::string> requests;    // Ids of these.
    std::vector<core::PoolOrder> orders;
    std::map<std::string, v1::PoolRecord> pools;  // That changed.
    std::vector<std::string> forgotten_jobs;      // Uids.
    std::vector<core::LeaseQuestion> leases;
    std::vector<std::pair<std::function<void(absl::StatusOr<std::string>)>, absl::StatusOr<std::string>>> answers;
  };

  static absl::Status Stopped();
  absl::Status Enqueue(Item& item);
  void Run();
  void Turn(std::vector<Item> items);
  void Handle(TrainerItem& item);
  void Handle(NodeItem& item);
  void Handle(Mutation& mutation);
  void Handle(core::PoolReported& report);
  void Handle(Task& task) { task(); }
  // Takes an event in; its status.
  absl::Status Take(const core::Event& event);
  // Decides on what was taken in.
  void Settle();
  void Absorb(const core::Effects& effects);
  void AbsorbForgotten(const core::Effects& effects);
  void Answer(Mutation& mutation, absl::StatusOr<std::string> reply);
  void CommitAndPublish();
  void CommitFailed(const absl::Status& status);
  void PublishJobs(const std::vector<v1::Event>& events);
  void ForgetJobs();
  void CheckPolls();
  v1::TrainerDirective DirectiveForTrainer(const TrainerKey& key, int32_t known);
  v1::NodeDirective DirectiveForAgent(const NodeKey& key, int32_t known);
  // What members may be told of the job's newest generation.
  void SetLease(const v1::JobRecord& record);
  void AnswerLeases(const std::vector<core::LeaseQuestion>& questions);
  // While the store fails: keeps reports until their deadline, refuses changes, runs reads.
  void Hold(std::vector<Item> items);
  void ExpireHeld();
  void Expire();
  void RefuseAll(std::vector<Item> items);
  // At the very end; what it is to know when it is started again is saved.
  void EndWith(std::vector<Item> items);
  // After it was superseded: all that is left to do is to make that durable.
  void BeSilent(std::vector<Item> items);
  double NextWake() const;
  void EndListening();
  // Unix time is asked for anew; the core is told where it is another than it knows.
  void FollowClocks();
  double Slept() const { return options_.clocks.boot() - options_.clocks.steady(); }
  // Why nobody is told what is known; OK: everybody is.
  absl::Status WhySilent() const;
  bool failing() const { return !failure_.ok(); }

  StateStore* const store_;
  const Options options_;
  prometheus::Histogram& commit_seconds_;
  prometheus::Counter& commit_failures_;
  prometheus::Counter& crowded_out_;

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Item> queue_;  // Under mutex_, as is the next.
  bool stop_ = false;        // Nothing is queued any more.
  absl::Status superseded_;  // Not OK: nothing is queued or decided any more.
  std::thread thread_;

  LeaseBook leases_;
  JobFileBook job_files_;

  // The loop's thread only.
  core::Cluster cluster_;
  Journal journal_;
  JobBoard jobs_;
  PoolBoard pools_;
  JobMetrics job_metrics_;
  LogSenders log_senders_;
  Bulletin bulletin_;
  TrainerPolls trainer_polls_;
  NodePolls node_polls_;
  Unpublished unpublished_;
  std::vector<Item> held_;
  double wake_at_ = kForever;  // Of the core's clock.
  double stalled_ = 0;         // How far the core's clock is behind.
  double told_stalled_ = 0;    // As the core knows.
  double asleep_ = 0;          // How long the machine has slept since it booted, as the core knows.
  double unix_offset_ = 0;     // Unix time minus now().
  double failed_since_ = 0;
  double last_tick_ = 0;
  double listens_until_ = 0;
  absl::Status failure_;
  double retry_at_ = 0;
  double retry_after_ = 0;
  double logged_failure_at_ = 0;
  absl::Status ended_;
  std::function<void()> on_silent_;  // Set once it was superseded, and called when everybody has been answered.
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOOP_H_
