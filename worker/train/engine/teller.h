// Says what happens to a trainer, in its reports, its metrics, its timeline and its log. Teller decides nothing.
// Reporter makes sure that a report stays true while the state changes.
#ifndef REKINDLE_WORKER_TRAIN_ENGINE_TELLER_H_
#define REKINDLE_WORKER_TRAIN_ENGINE_TELLER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "checkpoint/client/client.h"
#include "worker/train/arithmetic/step_record.h"
#include "worker/train/control/control_plane.h"
#include "worker/train/control/reporter.h"
#include "worker/train/engine/timeline.h"
#include "worker/train/state/train_state.h"
#include "worker/train/step/step.h"
#include "worker/train/step/step_ranges.h"
#include "worker/train/step/step_times.h"
#include "worker/train/step/stragglers.h"
#include "worker/train/step/trainer_metrics.h"

namespace rekindle::train {

// Names a point in a job's training: a step of a generation.
struct Moment {
  int generation = 0;
  int64_t step = 0;
  int world_size = 0;
};

// Holds what is known of a trainer before it trains. Report documents the fields.
struct Introduction {
  std::string data_fingerprint;
  std::string probe_digest;
  double unigram_bits_per_byte = 0;
  double epoch_steps = 0;
  int micro_batch = 0;
  std::string micro_batch_reason;
  double micro_batch_search_seconds = 0;
  std::optional<ReportedDevice> device;
};

// Holds what Teller says about a step. `moment.step` and `scalars` are those after the step.
struct StepFacts {
  Moment moment;
  const StepOutcome& outcome;
  const StateScalars& scalars;
  const StepTimes& times;
  // `learning_rate` is empty if the batch was skipped.
  std::optional<double> learning_rate;
  double micro_batch_seconds = 0;
  // `computed` is the number of micro-batches that this rank computed. `redone` says that they had been computed
  // before, in the generation whose interruption left this step unfinished.
  int computed = 0;
  bool redone = false;
};

// Teller is thread-compatible. A trainer has only one, because several would contradict each other.
class Teller {
 public:
  // All arguments of the constructor must outlive the Teller.
  Teller(ControlPlane& control, Reporter& reporter, MetricsBoard& metrics, Timeline& timeline)
      : control_(control), reporter_(reporter), metrics_(metrics), timeline_(timeline) {}

  // The methods from Introduce() to Failed() say how the trainer comes to a generation and leaves it. `seconds` is the
  // time that the trainer waited.
  void Introduce(const Introduction& introduction);
  void Ready();
  void StoreUnseen();
  // NcclFailed() says whether NCCL has failed in the present generation and nobody is to blame. LeftNccl() says that
  // this process does not use NCCL any more.
  void NcclFailed(bool failed);
  void LeftNccl();
  void Stalled(double seconds);
  void MicroBatchIs(int micro_batch);
  void Connected(int rank, int generation, double seconds);
  void Joined(const Moment& moment) { timeline_.Mark("joined", moment.generation, moment.step, moment.world_size); }
  void OutOfMemory(const absl::Status& status, int micro_batch);
  // Says what the model does beside its work. An empty text says that it works again.
  void Note(const std::string& text);
  void Failed(const absl::Status& status);

  // Says whether this trainer works, that is, steps or saves in a generation. The node's agent reads this from the
  // metrics.
  void Works(bool works);
  // Says that this rank stands still because it hears nothing from the coordinator, or because its job may not spend.
  void Stands(const Moment& moment, double lease_seconds, bool may_spend);

  // The methods from Restored() to Finished() say what became of the training state. `name` is the name of a
  // checkpoint.
  void Restored(const Moment& moment, const std::string& name, const checkpoint::Restored& restored);
  void NotRestored(const std::string& name, const absl::Status& status);
  void CheckpointBegan(const Moment& moment);
  void KeepsFinalState(bool keeps);
  void Finished(int64_t step, const std::string& digest, const std::string& stop_reason);

  // WaitedForCopy(), Prepared() and Applied() say how many seconds the parts of a step took.
  void WaitedForCopy(double seconds);
  void Prepared(double seconds);
  void Applied(double seconds);

  void Step(const StepFacts& facts);
  // Says what the loss of an evaluation is, or nothing if the evaluation has no micro-batches.
  void Evaluation(const StepRecord& evaluation);
  void Lever(LeverNote note);
  // Says how many bytes less the ranks together send, because the `elements` of a gradient travel in 16 bits.
  void SmallerReduce(const Moment& moment, int64_t elements);

  // The methods from ShareIs() to SlowAt() say how fast this rank is. `micro_batches` is the number of micro-batches of
  // a whole step that the rank computes.
  void ShareIs(int micro_batches);
  // Says that the ranges of micro-batches have changed. The new ranges apply to all steps after `step`.
  void Recut(int64_t step, const Membership& membership, const StepRanges& ranges, const StepRanges::Recut& recut,
             int micro_batches);
  // Adds the seconds that a step saved because its ranges follow the ranks' speeds. AllSavedByRanges() says at the end
  // how much that was in all.
  void SavedByRanges(double seconds) { ranges_.seconds_saved += seconds; }
  void AllSavedByRanges(int64_t step);
  // Says what this rank is slow at, if that has changed. The coordinator makes one event out of each change.
  void SlowAt(const Membership& membership, int rank, const Straggling& straggling);

 private:
  ControlPlane& control_;
  Reporter& reporter_;
  MetricsBoard& metrics_;
  Timeline& timeline_;
  // `ranges_` is the newest LeverNote about the ranges of micro-batches.
  LeverNote ranges_{.lever = "ranges"};
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ENGINE_TELLER_H_
