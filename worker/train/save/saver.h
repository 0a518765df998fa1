// Saves the checkpoints of a trainer: beside its steps when one is due, and at the end of a generation or of the job.
//
// Rank 0 decides when a checkpoint is due and announces it in the step's message, so that every rank saves the same
// step whatever its own clock says. Every rank follows what becomes of the saves, because any of them may be rank 0 in
// the next generation. A failure of the store is reported and never ends training.
#ifndef REKINDLE_WORKER_TRAIN_SAVE_SAVER_H_
#define REKINDLE_WORKER_TRAIN_SAVE_SAVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "checkpoint/client/client.h"
#include "common/time/clock.h"
#include "worker/comm/contract/communicator.h"
#include "worker/contract/model_interface.h"
#include "worker/contract/spec.h"
#include "worker/train/control/control_plane.h"
#include "worker/train/control/reporter.h"
#include "worker/train/save/checkpoint_schedule.h"
#include "worker/train/save/checkpointer.h"
#include "worker/train/save/final_store.h"
#include "worker/train/state/placement.h"
#include "worker/train/state/train_state.h"
#include "worker/train/step/step.h"

namespace rekindle::train {

// The progress deadline of a communicator is `kStoreSeconds` while ranks wait for the store.
inline constexpr double kStoreSeconds = 300;

struct SaverOptions {
  // `spec_digest` is written into each checkpoint.
  std::string spec_digest;
  checkpoint::Retention retention;
};

// Names the parts of a trainer that the saver uses. All of them must outlive the saver.
struct SaverParts {
  device::Device& device;
  const TrainSpec& spec;
  const ParameterLayout& layout;
  const Placement& placement;
  ControlPlane& control;
  Reporter& reporter;
  // `checkpoints` is null if the job has no store, so that nothing is ever saved.
  checkpoint::CheckpointClient* checkpoints = nullptr;
  // `open_store` is null if the job can have no store but `checkpoints`.
  OpenStore open_store = nullptr;
  // `clock` returns the time in seconds.
  common::TimeSource clock;
  // `stopping` says whether this trainer was told to stop.
  std::function<bool()> stopping;
};

// Saver is thread-compatible. The state that is passed to a save must stay as it is until WaitCopied() has returned.
class Saver {
 public:
  Saver(SaverOptions options, SaverParts parts);

  // Takes the least memory of the device with which snapshots can be saved. Returns RESOURCE_EXHAUSTED if the device
  // does not have it.
  absl::Status Allocate();

  // Begins a generation. No snapshot of an older generation becomes a checkpoint any more.
  void Enter(int generation, int rank);
  // Begins the checkpoint schedule of the generation, whose state is at `step`.
  void Join(const Membership& membership, int64_t step);
  // Notes that the state was restored from the durable checkpoint of `step`.
  void Restored(int64_t step) { committed_step_ = step; }

  // Returns ABORTED if the store refused a checkpoint of this generation because it knows of a newer one.
  absl::Status CheckNotRefused() const;
  // Waits until no save reads the state any more, and returns the seconds waited.
  double WaitCopied();

  // Puts into `extras` what this rank tells the others about checkpoints in the step that follows `step`. That step
  // takes about `step_seconds`.
  void Announce(int64_t step, double step_seconds, int world_size, StepExtras* extras);
  // Takes what all ranks announced about their shards. The call does nothing unless this rank is rank 0.
  void Gather(std::span<const StepMessage> messages);
  // Notes that a step took `seconds`, and begins the save of `state` if rank 0 announced one. `usual` says that the
  // step contained only training and checkpoints (SaveCost::Step). If rank 0 announced none, the state may go to the
  // memory of nodes, as the job says. Returns whether a save to the store began.
  bool StepDone(const StepOutcome& outcome, double seconds, bool usual, const TrainState& state);
  // Notes the validation loss that is written into the next checkpoint.
  void Evaluated(double validation_loss) { validation_loss_ = validation_loss; }

  // Saves `state` and waits until the save has ended. `until` is the time, by the saver's clock, at which the nodes
  // will be gone, or 0 if they stay. The call is collective. A failure of the store is reported but not returned.
  absl::Status SaveNow(comm::Communicator& communicator, const TrainState& state, double until);
  // Saves the final state like SaveNow(), in `store` or, if that is empty, in the job's own store.
  absl::Status SaveFinal(comm::Communicator& communicator, const TrainState& state, double until,
                         const std::string& store);
  // Returns whether the final state of this job has to be saved at all.
  bool SavesFinal() const;
  // Returns whether the newest checkpoint that this rank committed is that of `step`.
  bool IsDurable(int64_t step) const { return parts_.reporter.Snapshot().committed.step == step; }

  // If this trainer was rank 0, writes to the stores that the job is over. Without that, somebody who has nothing but a
  // store would think that the job still runs. If the coordinator does not answer or a store is away, the job file of
  // the newest checkpoint stays as it is.
  void KeepEnd();

 private:
  CheckpointerOptions OptionsOf(SaverOptions options);
  absl::Status Fit(const std::vector<checkpoint::ShardRange>& shards, checkpoint::Precision precision);
  void FitScratch(int world_size);
  int MostShards(int world_size) const;
  SnapshotInfo SnapshotOf(int world_size) const;
  absl::Status Save(Checkpointer& checkpointer, comm::Communicator& communicator, const TrainState& state, double until,
                    bool is_final);
  void Follow();
  void TellInterval();
  void TellStatus(const CheckpointStatus& status);

  const SaverParts parts_;
  CheckpointSchedule schedule_;
  // `generation_` and `rank_` are the newest generation and this trainer's rank in it.
  int generation_ = 0;
  int rank_ = -1;
  // `failed_` counts the failed saves that `schedule_` knows of.
  int failed_ = 0;
  // `committed_step_` is the step of the newest durable checkpoint that this rank knows.
  int64_t committed_step_ = -1;
  // `loss_` and `validation_loss_` are the newest losses that this rank knows.
  std::optional<double> loss_, validation_loss_;
  // `scratch_` splits snapshots on the device. It is null if the device is the host, or if the job has no store.
  std::unique_ptr<PlaneScratch> scratch_;
  FinalStore final_store_;
  // `checkpointer_` saves to the job's own store. It is null if the job has no store.
  std::unique_ptr<Checkpointer> checkpointer_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SAVE_SAVER_H_
