// Starts, adopts and stops the trainers of this node as the desired state says, and knows what to report. A slot
// becomes free only with the memory of its trainer, because a new one may not fit beside what the kernel still has to
// free.
//
// The class is thread-safe. The agent's loop drives it, and gRPC threads bring what trainers report (Attach). Nothing
// here waits: the loop gets the descriptors and times to wait for.
#ifndef REKINDLE_WORKER_AGENT_TRAINERS_SUPERVISOR_H_
#define REKINDLE_WORKER_AGENT_TRAINERS_SUPERVISOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/memory/memory.h"
#include "common/process/process.h"
#include "common/process/waker.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/node_local.pb.h"
#include "worker/agent/decisions/slot_plan.h"
#include "worker/agent/folder/node_folder.h"
#include "worker/agent/folder/trainer_record.h"
#include "worker/agent/logs/log_shipper.h"
#include "worker/agent/trainers/agent_metrics.h"
#include "worker/agent/trainers/ended_trainers.h"
#include "worker/agent/trainers/left_alone.h"
#include "worker/agent/trainers/trainer_launch.h"
#include "worker/agent/trainers/watched_trainer.h"

namespace rekindle::agent {

struct SupervisorOptions {
  LaunchOptions launch;
  int slots = 1;
  Policy policy;
};

class Supervisor {
 public:
  // All pointers must outlive the supervisor. `logs` hears which output is in which file. `waker` wakes the loop when a
  // trainer may have died whose descriptor does not show it yet.
  Supervisor(SupervisorOptions options, const NodeFolder* folder, AgentMetrics* metrics, LogShipper* logs,
             const common::Waker* waker);

  // Takes over what an earlier agent of this folder left: running trainers, and exits that were not acknowledged.
  // REQUIRES: it is called once, before every other function.
  void Adopt();

  // Takes the desired state and the acknowledgements of a directive.
  void Apply(const v1::NodeDirective& directive);
  // Sets whether the node drains. While it drains, nothing new starts.
  void SetDraining(bool draining);
  // Lets all trainers stop, wanted or not.
  void StopAll();

  // Notes the trainers that ended, and carries out what the desired state asks for. Returns the latest time of the next
  // call. The caller also has to call it when a descriptor of WatchFds is readable.
  double Act(double now);

  // Returns descriptors that become readable when a trainer has ended.
  std::vector<int> WatchFds() const;
  // Returns whether any trainer makes steps or saves, or has not reported that it does neither.
  bool IsBusy() const;
  // Returns whether any trainer has a final state that is not durable.
  bool KeepsFinalState() const;
  // Returns whether a trainer runs whose job the coordinator does not know.
  bool LeavesAlone() const;
  // Returns, by job uid, the stores that have to be read for jobs that are left alone.
  std::map<std::string, std::string> StoresToRead() const;
  int running() const;
  // Fills in `trainers` and `left_alone`.
  void Report(v1::NodeReport* report) const;

  // Takes the report of a trainer. It is accepted only if id, job, process and secret match those of a trainer here.
  v1::AttachReply Attach(const v1::AttachRequest& request);

 private:
  bool AnyTrainer(const std::function<bool(const WatchedTrainer&)>& is) const;

  void AdoptRecord(const TrainerRecord& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Removes what trainers have left in the folder that run no more.
  void ClearLeftovers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the uid of each running trainer's job, by slot.
  std::map<int, std::string> RunningJobs() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CollectExits(double now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Reports the end. The slot is not free yet.
  void Tell(int slot, common::ExitStatus status, bool out_of_memory, double now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Frees the slot. REQUIRES: the trainer's process and memory are gone.
  void FreeSlot(int slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Start(int slot, double now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Stop(const Action& action, double now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Acknowledge(const std::string& trainer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const SupervisorOptions options_;
  const NodeFolder* const folder_;
  AgentMetrics* const metrics_;
  LogShipper* const logs_;
  const common::Waker* const waker_;

  mutable common::Mutex mutex_;
  // The pure function Reconcile reads this state.
  Node node_ ABSL_GUARDED_BY(mutex_);
  std::map<int, v1::DesiredTrainer> desired_ ABSL_GUARDED_BY(mutex_);
  LeftAlone left_alone_ ABSL_GUARDED_BY(mutex_);
  std::map<int, WatchedTrainer> trainers_ ABSL_GUARDED_BY(mutex_);
  // `last_trainer_` is the trainer that ended last in each slot.
  std::map<int, std::string> last_trainer_ ABSL_GUARDED_BY(mutex_);
  EndedTrainers ended_ ABSL_GUARDED_BY(mutex_);
  // `memory_kills_` is the kernel's count of out-of-memory kills as it was last read.
  std::optional<int64_t> memory_kills_ ABSL_GUARDED_BY(mutex_) = common::OutOfMemoryKills();
  // `wake_for_exit_` is 0 if no exit is being waited for.
  double wake_for_exit_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_TRAINERS_SUPERVISOR_H_
