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

// Stands for the exit code of a trainer that nobody saw end.
inline constexpr int kUnknownExit = 255;

// A WatchedTrainer is thread-compatible, and movable.
class WatchedTrainer {
 public:
  // Watches a trainer that this agent has started. `waker` is woken when the trainer may have died and its process
  // descriptor does not show it yet. `waker` must outlive this object.
  WatchedTrainer(Launched launched, std::string job_secret, const common::Waker* waker);

  // Watches a trainer that an earlier agent started. Returns NOT_FOUND if the trainer's process is gone. `waker` is
  // woken when the trainer may have died and its process descriptor does not show it yet. `waker` must outlive this
  // object.
  static absl::StatusOr<WatchedTrainer> Adopt(const TrainerRecord& record, const NodeFolder& folder,
                                              const common::Waker* waker);

  const TrainerRecord& record() const { return record_; }
  // Returns whether an earlier agent started the trainer.
  bool adopted() const { return adopted_; }

  struct End {
    // `status` says how the trainer has ended, or how it is ending now. It is unset while that is not known.
    std::optional<common::ExitStatus> status;
    // `is_gone` says that the trainer's process and its memory are gone, so the trainer's slot is free.
    bool is_gone = false;
    // `is_near` says that the caller has to ask again soon, because the trainer has ended or is about to.
    bool is_near = false;
  };
  // Asks the kernel, and init's records in the node's folder, how the trainer ended. The answer may come before the
  // trainer's memory is freed. The trainer is then sent SIGKILL as well, so that nothing keeps it alive.
  End AskEnd(const NodeFolder& folder, double now);
  // Notes which end of the trainer was reported while the kernel still frees its memory.
  void SetTold(common::ExitStatus status) { told_ = status; }
  bool told() const { return told_.has_value(); }

  // Returns a descriptor that becomes readable when the trainer has ended. Returns nothing if the trainer has ended but
  // it is not known how. The descriptor then stays readable, so the caller has to ask again after some time instead.
  std::optional<int> WatchFd() const;

  absl::Status Signal(int number) const { return process_.Signal(number); }
  // Notes why the trainer was asked to stop. `reason` is not empty.
  void SetStopReason(std::string reason) { stop_reason_ = std::move(reason); }
  const std::string& stop_reason() const { return stop_reason_; }

  // Takes the trainer's report, and counts its metrics. Returns why the report is refused if process, job or secret are
  // not those of this trainer.
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
  // `exit_unknown_since_` is when the trainer was first found to have ended without a record of init that says how.
  std::optional<double> exit_unknown_since_;
  // `hinted_since_` is when the life lock was found to be released while the kernel does not say yet how the process
  // ends.
  std::optional<double> hinted_since_;
  std::optional<common::ExitStatus> told_;
  std::string stop_reason_;
  bool attached_ = false;
  // `metrics_`, `at_rest_` and `keeps_final_state_` are what the trainer reported last.
  v1::TrainerMetrics metrics_;
  bool at_rest_ = false;
  bool keeps_final_state_ = false;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_TRAINERS_WATCHED_TRAINER_H_
