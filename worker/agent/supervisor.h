// The trainers of this node: starts, watches, adopts and stops them as the desired state says, and knows what to
// report.
//
// Thread-safe: the agent's loop drives it, gRPC threads bring what trainers say of themselves (Attach). Nothing here
// waits: descriptors and times to wait for are handed to the loop.
#ifndef REKINDLE_WORKER_AGENT_SUPERVISOR_H_
#define REKINDLE_WORKER_AGENT_SUPERVISOR_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/memory.h"
#include "common/process.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/node_local.pb.h"
#include "worker/agent/agent_metrics.h"
#include "worker/agent/death_watch.h"
#include "worker/agent/launch.h"
#include "worker/agent/log_shipper.h"
#include "worker/agent/node_folder.h"
#include "worker/agent/reconcile.h"
#include "worker/agent/trainer_record.h"
#include "worker/agent/waker.h"

namespace rekindle::agent {

struct SupervisorOptions {
  LaunchOptions launch;
  int slots = 1;
  Policy policy;
};

class Supervisor {
 public:
  // All must outlive it. `logs` is told whose output is where. `waker`: wakes the loop when a trainer may have died
  // whose descriptor does not tell yet.
  Supervisor(SupervisorOptions options, const NodeFolder* folder, AgentMetrics* metrics, LogShipper* logs,
             const Waker* waker);

  // Takes over what an earlier agent of this folder left: running trainers, and exits that were not acknowledged.
  // Once, first.
  void Adopt();

  // The desired state and the acknowledgements of a directive.
  void Apply(const v1::NodeDirective& directive);
  // While it drains nothing new starts.
  void SetDraining(bool draining);
  // All stop, wanted or not.
  void StopAll();

  // Notes the trainers that ended and carries out what the desired state asks for. Returns when to call again at the
  // latest (or when a descriptor of WatchFds is readable).
  double Act(double now);

  // Readable when a trainer has ended.
  std::vector<int> WatchFds() const;
  // Does any trainer make steps or save, or not say that it does neither?
  bool IsBusy() const;
  // Has any trainer a final state that is not durable?
  bool KeepsFinalState() const;
  // Does anything run of which the coordinator knows nothing?
  bool LeavesAlone() const;
  // Of the jobs that are left alone, the stores of those that are to be read there: by uid.
  std::map<std::string, std::string> StoresToRead() const;
  int running() const;
  // Fills in `trainers`.
  void Report(v1::NodeReport* report) const;

  // A trainer speaks: recognised when it is one of ours by id, job, process and secret.
  v1::AttachReply Attach(const v1::AttachRequest& request);

 private:
  static constexpr size_t kMaxEnded = 256;
  static constexpr int kUnknownExit = 255;

  struct Trainer {
    TrainerRecord record;
    common::Process process;
    std::string job_secret;
    bool adopted = false;
    bool attached = false;
    std::string stop_reason;                   // Why it was told to stop; empty: it was not.
    std::optional<double> exit_unknown_since;  // Ended, and init has not said how yet.
    std::unique_ptr<DeathWatch> death;         // Null: nothing but its descriptor tells of its end.
    std::optional<double> hinted_since;      // Its life lock was released, and the kernel does not say how it ends yet.
    std::optional<common::ExitStatus> told;  // How it ends was reported; the kernel still frees its memory.
    v1::TrainerMetrics metrics;
    bool at_rest = false;  // As it said last, as is the next.
    bool keeps_final_state = false;
  };

  // All below: REQUIRES mutex_ held.
  void AdoptRecord(const TrainerRecord& record);
  void ReadLeftAlone();
  void CollectExits(double now);
  // How it ended; nothing while that is not known.
  std::optional<common::ExitStatus> ExitOf(Trainer& trainer, double now);
  // How it ends, before its memory is freed: killed once more, so that nothing keeps it alive. Nothing where that is
  // not certain.
  std::optional<common::ExitStatus> EarlyExitOf(Trainer& trainer, double now);
  // Reports the end. The slot is not free yet.
  void Tell(int slot, common::ExitStatus status, double now);
  // It is gone, and so is its memory.
  void FreeSlot(int slot);
  void Start(int slot, double now);
  void Stop(const Action& action, double now);
  void AddEnded(TrainerRecord record, common::ExitStatus status, const std::string& reason);
  void Acknowledge(const std::string& trainer);
  std::string EndedFile(const std::string& trainer) const;

  const SupervisorOptions options_;
  const NodeFolder* const folder_;
  AgentMetrics* const metrics_;
  LogShipper* const logs_;
  const Waker* const waker_;

  mutable std::mutex mutex_;
  Node node_;  // What the pure part sees.
  std::map<int, v1::DesiredTrainer> desired_;
  std::map<std::string, v1::DesiredTrainer> left_alone_;  // By uid: what was wanted of jobs that are left alone.
  std::set<std::string> to_read_;                         // Uids: what their stores have is asked for.
  std::map<int, Trainer> trainers_;
  std::map<int, std::string> last_trainer_;                           // That ended last in a slot.
  std::deque<TrainerRecord> ended_;                                   // Not acknowledged; bounded.
  std::optional<int64_t> memory_kills_ = common::OutOfMemoryKills();  // As last seen.
  double wake_for_exit_ = 0;                                          // 0: no exit is being waited for.
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_SUPERVISOR_H_
