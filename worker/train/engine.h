// The trainer's life: joins generations as the directive says, computes and reduces steps in them, survives their end.
//
// One thread (Run's) computes. A generation ends by an error of its communicator, by an agreed yield at a step
// boundary, or by the last step. Between generations the engine holds its state and waits; without a newer membership
// it never steps. Everything outside is injected, so that the same engine runs over in-process links in tests.
#ifndef REKINDLE_WORKER_TRAIN_ENGINE_H_
#define REKINDLE_WORKER_TRAIN_ENGINE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/client.h"
#include "common/clock.h"
#include "worker/comm/communicator.h"
#include "worker/train/batch_source.h"
#include "worker/train/checkpoint_schedule.h"
#include "worker/train/checkpoint_search.h"
#include "worker/train/checkpointer.h"
#include "worker/train/control_plane.h"
#include "worker/train/flush_plan.h"
#include "worker/train/generation_watch.h"
#include "worker/train/loss_scale.h"
#include "worker/train/model.h"
#include "worker/train/placement.h"
#include "worker/train/reporter.h"
#include "worker/train/spec.h"
#include "worker/train/state.h"
#include "worker/train/step.h"
#include "worker/train/step_ranges.h"
#include "worker/train/step_times.h"
#include "worker/train/stragglers.h"
#include "worker/train/timeline.h"
#include "worker/train/trainer_metrics.h"

namespace rekindle::train {

// Called with the error of a communicator, from any thread, at most once a communicator.
using OnCommunicatorError = std::function<void(const absl::Status&, const std::vector<comm::Accusation>&)>;

// Connects this rank to the members. `cancelled` is polled; `accused` gets who could not be reached.
using Connect = std::function<absl::StatusOr<std::unique_ptr<comm::Communicator>>(
    const Membership& membership, int rank, const comm::Deadlines& deadlines, OnCommunicatorError on_error,
    const std::function<bool()>& cancelled, std::vector<comm::Accusation>* accused)>;

using OpenStore =
    std::function<absl::StatusOr<std::unique_ptr<checkpoint::CheckpointClient>>(const std::string& store)>;

struct EngineOptions {
  std::string trainer;  // Own identity.
  TrainSpec spec;
  std::string spec_digest;  // Of the resolved spec; a checkpoint of another one is not restored.
  checkpoint::Retention retention{.keep_last = 2};
  std::string data_fingerprint;
  std::string probe_digest;
  double unigram_bits_per_byte = 0;
  std::string micro_batch_reason;  // Not empty: this process has found spec.micro_batch.
  double micro_batch_search_seconds = 0;
};

// All outlive the engine. `checkpoints` may be null: no store.
struct EngineParts {
  Model& model;
  BatchSource& batches;
  ControlPlane& control;
  Connect connect;
  checkpoint::CheckpointClient* checkpoints = nullptr;
  // Optional: another store for the final checkpoint. Null: there is none but `checkpoints`.
  OpenStore open_store = nullptr;
  // Optional: replaces the initial weights of a job that starts. INVALID_ARGUMENT: nobody ever can.
  std::function<absl::Status(std::span<float>)> load_weights = nullptr;
  // Optional: makes `batches` deliver micro-batches of another size. Null: the size never changes.
  std::function<absl::Status(int micro_batch)> resize_batches = nullptr;
  MetricsBoard& metrics;
  Timeline& timeline;
  // Seconds; what steps and checkpoints take, and when a checkpoint is due. No number that is trained depends on it.
  std::function<double()> clock = common::SteadySeconds;
};

class Engine {
 public:
  Engine(EngineOptions options, EngineParts parts);
  ~Engine();

  // Until the directive says EXIT or Stop() is called (OK), or this trainer cannot go on (the error, already reported).
  absl::Status Run();
  // From any thread: Run returns as soon as it can.
  void Stop();

 private:
  // A generation as this rank lives it.
  struct Generation {
    const Membership& membership;
    int rank;
    comm::Communicator& communicator;
    StepRanges ranges;
  };

  bool AwaitMembership(Membership* membership);
  void AwaitStore();

  void RunGeneration(const Membership& membership);
  void SetWorks(bool works);  // For the agent of this node.
  absl::Status TakeMicroBatch(int micro_batch);
  absl::Status Computed(const std::function<absl::Status()>& compute);
  void InterruptForMemory(const Membership& membership, const absl::Status& status);
  absl::Status StepsOf(Generation& generation);
  absl::Status WatchedStepsOf(Generation& generation);
  absl::Status TakeState(Generation& generation);
  absl::Status StartAfresh();
  absl::Status RestoreCheckpoint(const Membership& membership);
  static std::vector<StepRange> RangesOf(const Membership& membership);
  std::set<int> AssignedIn(const Generation& generation) const;
  void FollowSpeeds(Generation& generation, const StepOutcome& outcome);
  void TellRecut(const Generation& generation, const StepRanges::Recut& recut);
  void TellTimeSaved();
  void TellStraggling(const Generation& generation, const Straggling& straggling);
  void JoinSchedule(const Generation& generation);
  absl::Status OneStep(Generation& generation, bool* yielded);
  absl::Status AwaitLease(Generation& generation, const StepOutcome& outcome);
  absl::Status CheckFresh(const Generation& generation, double sent) const;
  absl::Status StandStill(Generation& generation);
  absl::Status ApplyOrRedo(Generation& generation, const StepOutcome& outcome);
  std::optional<StateScalars> ScaledAnew(const StepRecord& record) const;
  absl::Status Yield(Generation& generation, bool with_checkpoint);

  absl::Status Finish(Generation& generation);
  absl::Status SaveFinal(Generation& generation);
  absl::Status NoteFinal(Generation& generation);
  bool UseFinalStore(const std::string& store);
  bool DrainFinal(double seconds);
  void KeepEnd();

  int MostShards(int world_size) const;
  std::vector<checkpoint::ShardRange> OwnFiles(const Generation& generation) const;
  StepExtras ExtrasFor(const Generation& generation);
  void FollowCheckpoints(const Generation& generation);
  void BeginCheckpointIfDecided(const Generation& generation, const StepOutcome& outcome);
  SnapshotInfo SnapshotOf(const Generation& generation) const;
  absl::StatusOr<FlushDecision> DecideFlush(Generation& generation);
  absl::Status CheckpointNow(Generation& generation);
  absl::Status AwaitSaves(Generation& generation);
  absl::Status GatherNow(Generation& generation);
  double FinalSeconds() const;

  PlannedUpdate PlanStep(const StepOutcome& outcome, const LeverState& levers);
  absl::Status Prepare(Generation& generation, const StepOutcome& outcome, std::optional<PlannedUpdate> update);

  enum class Verdict { kApply, kRedo, kSkip, kStop };  // Of a step that is reduced and not yet applied.
  absl::StatusOr<Verdict> Judge(const StepOutcome& outcome, LeverState* levers);
  absl::StatusOr<Verdict> Diverged(const std::string& why, LeverState* levers);
  std::string DescribeNotFinite(const StepRecord& record) const;
  void TellLever(LeverNote note);
  void TellStep(const StepOutcome& outcome, double seconds);
  void TellBytesSaved(const Generation& generation);
  void TellEvaluation(const StepRecord& evaluation);
  void TellRestored(const std::string& name, const checkpoint::Restored& restored);
  void TellCheckpoints(const CheckpointStatus& status);
  CheckpointerOptions CheckpointerOptionsOf();
  void Fail(const absl::Status& status);
  bool Superseded(int generation) const;
  double StepDeadline() const;                  // Seconds without progress of a step.
  static constexpr double kStoreSeconds = 300;  // The same while the store is involved.

  EngineOptions options_;
  EngineParts parts_;
  Reporter reporter_;
  GenerationWatch watch_;
  const std::unique_ptr<Placement> placement_;
  TrainState state_;
  bool has_state_ = false;
  const LossScaler scaler_;
  StepTimes times_;
  StepRunner steps_;
  Stragglers stragglers_;
  LeverNote ranges_note_{.lever = "ranges"};
  double micro_batch_seconds_ = 0;              // As the ranges of the newest generation that measured it have it.
  std::unique_ptr<Checkpointer> checkpointer_;  // Null without a store.
  std::unique_ptr<CheckpointSearch> search_;    // Null without a store.
  // Another store for the final checkpoint, once it is known.
  struct FinalStore {
    std::string store;
    std::unique_ptr<checkpoint::CheckpointClient> client;
    std::unique_ptr<Checkpointer> checkpointer;
  };
  FinalStore final_;
  bool saves_final_ = false;  // In SaveFinal.
  CheckpointSchedule schedule_;
  int checkpoints_failed_ = 0;                    // As far as the schedule knows.
  std::optional<double> loss_, validation_loss_;  // Newest known to this rank.
  std::string stop_reason_;                       // A lever ended the job at this step; empty: none did.
  double learning_rate_ = 0;                      // Of the newest step.
  int64_t committed_step_ = -1;                   // Newest durable checkpoint this rank knows.
  double flush_until_ = 0;                        // The clock's time at which the nodes are gone; 0: nobody said so.
  int generation_ = 0;                            // The newest this engine has been in.
  bool commits_ = false;                          // As rank 0 of that one.
  bool told_saved_ = false;                       // What the placement saves, in this generation.
  bool out_of_memory_ = false;                    // What ended this generation.
  absl::Status failure_;
  std::atomic<bool> stopping_{false};
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ENGINE_H_
