// Decides what becomes of a step that is reduced and not yet applied: whether its scales fitted, and what the levers
// say about it. The decision is pure. All ranks see the same outcome of the step, so all decide the same.
#ifndef REKINDLE_WORKER_TRAIN_STEP_JUDGEMENT_H_
#define REKINDLE_WORKER_TRAIN_STEP_JUDGEMENT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/contract/model_interface.h"
#include "worker/contract/spec.h"
#include "worker/train/arithmetic/loss_scale.h"
#include "worker/train/control/report.h"
#include "worker/train/levers/lever_state.h"
#include "worker/train/state/train_state.h"
#include "worker/train/step/step.h"

namespace rekindle::train {

struct Judgement {
  enum class Verdict {
    kApply,
    // With kRedo the same step is tried again with another loss scale or other exponents.
    kRedo,
    // With kSkip the step counts as made, but its batch changes no weight.
    kSkip,
    // With kStop the job ends before the step that was judged is applied.
    kStop
  };
  Verdict verdict = Verdict::kApply;
  // `scalars` are the state's scalars once the verdict is carried out. With kStop the state stays as it is.
  StateScalars scalars;
  // `stop_reason` says why a lever ends the job. It is set with kStop.
  std::string stop_reason;
  // `notes` has what the levers noticed. The notes are also set when the judgement is an error.
  std::vector<LeverNote> notes;
};

// StepJudge is thread-compatible.
class StepJudge {
 public:
  // `spec` and `layout` must outlive the StepJudge.
  StepJudge(const TrainSpec& spec, const ParameterLayout& layout);

  // Returns the loss scale of a job that starts.
  LossScale InitialLossScale() const { return scaler_.Initial(); }

  // Judges the step that starts from `scalars` and had `outcome`. `step_seconds` is the usual time of a step. Returns
  // INVALID_ARGUMENT if the job diverged and must not go on.
  absl::Status Judge(const StateScalars& scalars, const StepOutcome& outcome, double step_seconds,
                     Judgement* judgement) const;

 private:
  std::optional<StateScalars> ScaledAnew(const StateScalars& scalars, const StepRecord& record) const;
  std::string Divergence(const StepOutcome& outcome) const;
  absl::Status SkipDiverged(const std::string& why, int64_t step, Judgement* judgement) const;
  void Advance(const StateScalars& scalars, const StepRecord& record, Judgement* judgement) const;

  const TrainSpec& spec_;
  const ParameterLayout& layout_;
  const LossScaler scaler_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_JUDGEMENT_H_
