// Starts, adopts and stops the trainers of this node as the desired state says, and knows what the node reports of
// them. A slot becomes free only when its trainer's memory is freed, because a new trainer may not fit beside it.
//
// The class is thread-safe. The agent's loop drives it, and gRPC threads bring what trainers report (Attach). No
// function here waits: the loop gets the descriptors and times to wait for.
#ifndef REKINDLE_WORKER_AGENT_TRAINERS_SUPERVISOR_H_
#define REKINDLE_WORKER_AGENT_TRAINERS_SUPERVISOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/memory/memory_limit.h"
#include "common/process/process.h"
#include "common/process/waker.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/node.pb.h"
#include "rekindle/v1/node_local.pb.h"
#include "worker/agent/decisions/slot_health.h"
#include "worker/agent/decisions/slot_plan.h"
#include "worker/agent/folder/node_folder.h"
#include "worker/agent/folder/trainer_record.h"
#include "worker/agent/logs/log_shipper.h"
#include "worker/agent/trainers/agent_metrics.h"
#include "worker/agent/trainers/ended_trainers.h"
#include "worker/agent/trainers/gpu_slots.h"
#include "worker/agent/trainers/left_alone.h"
#include "worker/agent/trainers/trainer_launch.h"
#include "worker/agent/trainers/watched_trainer.h"
#include "worker/agent/user_code/job_code.h"
#include "worker/gpus/gpu.h"

namespace rekindle::agent {

struct SupervisorOptions {
  LaunchOptions launch;
  // Trainers compute on `gpus`, and `gpu_share` of them on one. If there are none, they compute on the processor.
  // `fake_gpus` says that a device for tests stands in for the GPUs.
  std::vector<gpus::Gpu> gpus;
  int gpu_share = 1;
  bool fake_gpus = false;
  int slots = 1;
  Policy policy;
  SlotHealthPolicy health;
  JobCodeOptions code;
  // `has_bundle` says whether the code of a bundle is on this node. A trainer that needs it starts when it is.
  std::function<bool(const std::string& address)> has_bundle = [](const std::string&) { return false; };
  // `why_no_bundle` says why that code is not there. It is empty while nothing is wrong.
  std::function<std::string(const std::string& address)> why_no_bundle = [](const std::string&) { return ""; };
};

class Supervisor {
 public:
  // All pointers must outlive the supervisor. `logs` is told which trainer's output is in which file. `waker` wakes the
  // loop when a trainer may have died whose process descriptor does not show it yet.
  Supervisor(SupervisorOptions options, const NodeFolder* folder, AgentMetrics* metrics, LogShipper* logs,
             const common::Waker* waker);

  // Takes over what an earlier agent of this folder left: running trainers, and exits that were not acknowledged.
  // REQUIRES: Adopt() is called once, before every other function.
  void Adopt();

  // Takes the desired state and the acknowledged exits from a directive.
  void Apply(const v1::NodeDirective& directive);
  // Sets whether the node drains. While it drains, no new trainer starts.
  void SetDraining(bool draining);
  // Lets all trainers stop, even those that are wanted.
  void StopAll();
  // Takes the driver's newest list of GPUs, or why there is none.
  void TakeGpus(const absl::StatusOr<std::vector<gpus::Gpu>>& listed, double now);

  // Notes the trainers that ended, and starts and stops trainers as the desired state asks. Returns the time at which
  // the caller has to call Act() again at the latest. Act() also has to be called when a descriptor of WatchFds is
  // readable.
  double Act(double now);

  // Returns descriptors that become readable when a trainer has ended.
  std::vector<int> WatchFds() const;
  // Returns whether any trainer makes steps or saves, or has not reported that it does neither.
  bool IsBusy() const;
  // Returns when to ask the driver for the GPUs again. It is infinite while no slot is out of use.
  double ask_driver_at() const;
  // Returns what the driver says of the GPUs of a node that can run no trainer because of them. It is empty while a
  // slot is in use, and while the driver itself finds nothing wrong with a GPU: a new machine would then not help.
  std::string WhyNoSlot() const;
  // Returns whether any trainer has a final state that is not durable.
  bool KeepsFinalState() const;
  // Returns whether a trainer runs whose job the coordinator does not know.
  bool LeavesAlone() const;
  // Returns the checkpoint stores to read for jobs that are left alone, keyed by job uid.
  std::map<std::string, std::string> StoresToRead() const;
  // Returns the bundles that wanted and running trainers need, by address, each with the uid of a job that needs it.
  std::map<std::string, std::string> Bundles() const;
  int running() const;
  // Fills in `trainers` of the node's report, which has the running and the ended trainers, `left_alone`, which says
  // what was wanted of the trainers that are left alone, `slot_faults`, `start_troubles`, and the GPUs in `device`.
  void Report(v1::NodeReport* report) const;

  // Takes the report of a trainer. It is accepted only if id, job, process and secret match those of a trainer on this
  // node.
  v1::AttachReply Attach(const v1::AttachRequest& request);

 private:
  bool AnyTrainer(const std::function<bool(const WatchedTrainer&)>& is) const;

  void AdoptRecord(const TrainerRecord& record, double now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Removes the files that trainers which no longer run have left in the node's folder.
  void ClearLeftovers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the uid of each running trainer's job, keyed by slot.
  std::map<int, std::string> RunningJobs() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CollectExits(double now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Reports how the trainer in the slot ended. The slot is not free before the trainer's memory is.
  void Tell(int slot, common::ExitStatus status, bool out_of_memory, double now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes how a trainer ended into the health of its slot. Returns the reason of the end, with the trainer's last
  // words.
  std::string NoteEnd(const TrainerRecord& record, common::ExitStatus status, double now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns why slots are out of use.
  std::map<int, std::string> Faults() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes slots out of use, and back, as their health says.
  void UseHealth() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Marks the slot as free for another trainer. REQUIRES: its trainer's process and memory are gone.
  void FreeSlot(int slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Lets a slot want its trainer only once the trainer's bundle is on this node, and the folder of its code is ready.
  void AwaitBundles() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Start(int slot, double now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Prepares the job's own code, if it has some, and launches its trainer. Launch also notes whether it has worked.
  absl::StatusOr<Launched> Launch(const v1::DesiredTrainer& desired, int slot, double now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Launched> LaunchWithCode(const v1::DesiredTrainer& desired, int slot, double now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Fills in `start_troubles` of the node's report.
  void ReportStartTroubles(v1::NodeReport* report) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the code of jobs that have left the node. Returns when to call it again.
  double KeepCode(double now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Stop(const Action& action, double now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Acknowledge(const std::string& trainer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const SupervisorOptions options_;
  const NodeFolder* const folder_;
  AgentMetrics* const metrics_;
  LogShipper* const logs_;
  const common::Waker* const waker_;

  mutable common::Mutex mutex_;
  // `node_` is the state that the pure function Reconcile reads.
  Node node_ ABSL_GUARDED_BY(mutex_);
  std::map<int, v1::DesiredTrainer> desired_ ABSL_GUARDED_BY(mutex_);
  GpuSlots gpus_ ABSL_GUARDED_BY(mutex_);
  JobCode code_ ABSL_GUARDED_BY(mutex_);
  // `not_launched_` says for a slot why the last trainer did not start there, and of which job it was.
  std::map<int, v1::StartTrouble> not_launched_ ABSL_GUARDED_BY(mutex_);
  SlotHealth health_ ABSL_GUARDED_BY(mutex_);
  // `stuck_` has the slots that are held by a trainer which does not end.
  std::set<int> stuck_ ABSL_GUARDED_BY(mutex_);
  LeftAlone left_alone_ ABSL_GUARDED_BY(mutex_);
  std::map<int, WatchedTrainer> trainers_ ABSL_GUARDED_BY(mutex_);
  // `last_trainer_` maps each slot to the trainer that ended last in it.
  std::map<int, std::string> last_trainer_ ABSL_GUARDED_BY(mutex_);
  EndedTrainers ended_ ABSL_GUARDED_BY(mutex_);
  // `memory_kills_` is the kernel's count of out-of-memory kills as it was last read.
  std::optional<int64_t> memory_kills_ ABSL_GUARDED_BY(mutex_) = common::OutOfMemoryKills();
  // `wake_for_exit_` is when to ask again how a trainer ended. It is 0 if no exit is being waited for.
  double wake_for_exit_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_TRAINERS_SUPERVISOR_H_
