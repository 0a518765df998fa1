// Decides whether this rank is a straggler, and why, from the costs that all ranks send each other. The verdict is only
// reported. It has no influence on the ranges that the ranks compute (StepRanges).
//
// The causes kData and kCompute mean that this rank's micro-batches take at least 1.5 times as long as those of the
// others, and that most of the extra time is spent on data or on computing. The cause kNetwork means that no rank is
// slow at data or computing, that the exchange is a large part of the step, and that this rank waits longer for the
// link to its successor than others do for theirs. The link, this rank or its successor may be at fault, and these
// cannot be distinguished.
#ifndef REKINDLE_WORKER_TRAIN_STEP_STRAGGLERS_H_
#define REKINDLE_WORKER_TRAIN_STEP_STRAGGLERS_H_

#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "worker/train/step/step_cost.h"

namespace rekindle::train {

struct Straggling {
  enum class Cause { kNone, kData, kCompute, kNetwork };
  Cause cause = Cause::kNone;
  // For kData and kCompute `seconds` is the time of one micro-batch on this rank. For kNetwork it is the time in a step
  // in which the rank waits for its link.
  double seconds = 0;
  // For kData and kCompute `compared` is the median time of one micro-batch on the other ranks. For kNetwork it is the
  // time in a step from the moment at which the last rank has computed to the end of the exchange.
  double compared = 0;
};

// Returns the name of `cause`: "data", "compute", "network" or an empty string.
const char* CauseName(Straggling::Cause cause);

// Judges one rank in one generation. The class is pure. A verdict is kept, even into the next generation, until enough
// steps in a row have given no reason for it.
class Stragglers {
 public:
  // `verdict` is the verdict of the generation before. The measurements of that generation do not count any more.
  explicit Stragglers(int rank, const Straggling& verdict = {});
  // Adds the costs of a step, indexed by rank. The caller calls Add() after each exchange. Returns the verdict on this
  // rank.
  const Straggling& Add(std::span<const StepCost> costs);

 private:
  using Figure = std::function<double(const StepCost&)>;
  // Returns for each rank the median of `figure`, which reads one number from a step's cost, over the newest steps.
  std::vector<double> Medians(const Figure& figure) const;
  Straggling JudgeSpeed() const;
  Straggling JudgeNetwork() const;

  size_t rank_;
  std::deque<std::vector<StepCost>> newest_;
  Straggling verdict_;
  // `calm_` is the number of newest steps in a row that gave no reason for the verdict.
  int calm_ = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_STRAGGLERS_H_
