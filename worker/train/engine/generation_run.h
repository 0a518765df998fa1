// Runs one generation on this rank, from the moment at which its ranks are connected and all have the state.
//
// A GenerationRun is made for one exchange. What it remembers holds for this generation alone, so each generation
// gets a new GenerationRun. What outlives a generation is in GenerationParts.
#ifndef REKINDLE_WORKER_TRAIN_ENGINE_GENERATION_RUN_H_
#define REKINDLE_WORKER_TRAIN_ENGINE_GENERATION_RUN_H_

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "worker/comm/contract/communicator.h"
#include "worker/device/exchange/exchange.h"
#include "worker/train/control/membership.h"
#include "worker/train/engine/generation_parts.h"
#include "worker/train/engine/teller.h"
#include "worker/train/step/judgement.h"
#include "worker/train/step/step.h"
#include "worker/train/step/step_ranges.h"
#include "worker/train/step/stragglers.h"

namespace rekindle::train {

// GenerationRun is thread-compatible.
class GenerationRun {
 public:
  // All arguments of the constructor must outlive the GenerationRun.
  GenerationRun(const Membership& membership, device::Exchange& exchange, const GenerationParts& parts);

  // Makes steps until the job is done or all ranks agree to yield, and returns OK then. Otherwise returns the error
  // that ended the generation. REQUIRES: the state is that of the membership's step, and the saver has joined the
  // generation.
  absl::Status Run();

  // Returns the micro-batches that this rank computes next.
  std::set<int> Assigned() const;
  // Returns whether Run() ended because the memory did not suffice.
  bool out_of_memory() const { return out_of_memory_; }

 private:
  absl::Status Computed(const std::function<absl::Status()>& compute);
  StepExtras Extras();
  absl::Status OneStep();
  void FollowSpeeds(const StepOutcome& outcome);
  absl::Status AwaitLease(const StepOutcome& outcome);
  absl::Status JudgeAndApply(const StepOutcome& outcome);
  absl::Status PlanAndPrepare(const StepOutcome& outcome, const Judgement& judgement);
  absl::Status Apply(const StepOutcome& outcome, Judgement judgement);
  void TellStep(const StepOutcome& outcome, double seconds, bool redone);
  void TellBytesSaved();
  absl::Status Yield(bool with_checkpoint);

  absl::Status Finish();
  absl::Status EvaluateFinal();
  absl::Status NoteFinal();

  Moment Now() const;

  const Membership& membership_;
  device::Exchange& exchange_;
  // `communicator_` is that of `exchange_`.
  comm::Communicator& communicator_;
  const GenerationParts parts_;
  StepRanges ranges_;
  Stragglers stragglers_;
  // `learning_rate_` is the learning rate of the newest step. It is empty if the step's batch was skipped.
  std::optional<double> learning_rate_;
  // `yielded_` says that all ranks left the generation at the same step boundary, because one was asked to yield.
  bool yielded_ = false;
  // `stop_reason_` says why a lever has ended the job at the present step. It is empty if none has.
  std::string stop_reason_;
  // `flush_until_` is the time, by the trainer's clock, at which the nodes will be gone. It is 0 if no end was
  // announced.
  double flush_until_ = 0;
  bool told_bytes_saved_ = false;
  bool out_of_memory_ = false;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_ENGINE_GENERATION_RUN_H_
