// Watches one trainer process of this node until it is gone, and keeps what the trainer says of itself.
#ifndef REKINDLE_WORKER_AGENT_TRAINERS_WATCHED_TRAINER_H_
#define REKINDLE_WORKER_AGENT_TRAINERS_WATCHED_TRAINER_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/process.h"
#include "common/process/waker.h"
#include "rekindle/v1/node_local.pb.h"
#include "worker/agent/folder/node_folder.h"
#include "worker/agent/folder/trainer_record.h"
#include "worker/agent/trainers/agent_metrics.h"
#include "worker/agent/trainers/death_watch.h"
#include "worker/agent/trainers/trainer_launch.h"

namespace rekindle::agent {

// Stands for the exit code of a process that nobody saw end.
inline constexpr int kUnknownExit = 255;

// The class is thread-compatible, and movable.
class WatchedTrainer {
 public:
  // Watches a trainer that this agent has started. `waker` is woken when the trainer may have died whose descriptor
  // does not show it yet, and it must outlive this object.
  WatchedTrainer(Launched launched, std::string job_secret, const common::Waker* waker);

  // Finds a trainer again that an earlier agent started. Returns NOT_FOUND if its process is gone. `waker` is as
  // above.
  static absl::StatusOr<WatchedTrainer> Adopt(const TrainerRecord& record, const NodeFolder& folder,
                                              const common::Waker* waker);

  const TrainerRecord& record() const { return record_; }
  // Returns whether an earlier agent started the trainer.
  bool adopted() const { return adopted_; }

  struct End {
    // The trainer has ended like this, or does so now. It is unset while that is not known.
    std::optional<common::ExitStatus> status;
    // `is_gone` says that the process and its memory are gone, so the slot is free.
    bool is_gone = false;
    // The caller has to ask again soon.
    bool is_near = false;
  };
  // Asks the kernel, and init by the node's folder, how the trainer ended. An end may be certain before the memory is
  // freed. Then the trainer has been killed once more, so that nothing keeps it alive.
  End AskEnd(const NodeFolder& folder, double now);
  // Notes the end that was reported, while the kernel still frees the trainer's memory.
  void SetTold(common::ExitStatus status) { told_ = status; }
  bool told() const { return told_.has_value(); }

  // Returns a descriptor that becomes readable when the trainer has ended. Returns nothing for one that has ended and
  // is asked again after some time, because its descriptor stays readable.
  std::optional<int> WatchFd() const;

  absl::Status Signal(int number) const { return process_.Signal(number); }
  // Notes why the trainer was asked to stop. The text is not empty.
  void SetStopReason(std::string reason) { stop_reason_ = std::move(reason); }
  const std::string& stop_reason() const { return stop_reason_; }

  // Takes what the trainer reports, and counts its metrics. Returns why the report is refused if process, job or secret
  // are not those of this trainer.
  absl::Status Attach(const v1::AttachRequest& request, AgentMetrics* metrics);
  // Returns whether the trainer makes steps or saves, or has not reported that it does neither.
  bool is_busy() const { return !at_rest_; }
  // Returns whether the trainer has a final state that is not durable.
  bool keeps_final_state() const { return keeps_final_state_; }

 private:
  std::optional<common::ExitStatus> ExitOf(const NodeFolder& folder, double now);
  std::optional<common::ExitStatus> EarlyExitOf(double now);

  TrainerRecord record_;
  common::Process process_;
  std::string job_secret_;
  // If `death_` is null, only the process descriptor shows the trainer's end.
  std::unique_ptr<DeathWatch> death_;
  bool adopted_ = false;
  // The trainer has ended, and since this time init has not reported how.
  std::optional<double> exit_unknown_since_;
  // The life lock was released at `hinted_since_`, and the kernel does not say yet how the process ends.
  std::optional<double> hinted_since_;
  std::optional<common::ExitStatus> told_;
  std::string stop_reason_;
  bool attached_ = false;
  // The values below are as the trainer reported them last.
  v1::TrainerMetrics metrics_;
  bool at_rest_ = false;
  bool keeps_final_state_ = false;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_TRAINERS_WATCHED_TRAINER_H_
