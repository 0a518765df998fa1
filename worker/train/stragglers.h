// Whether this rank is a straggler, and why: from the costs that all ranks tell each other. It is only told; what ranks
// compute follows StepRanges.
//
// data, compute: its micro-batches take half as long again as the others', and most of that is spent there.
// network: nobody is slow at those, the exchange is a large part of the step, and this rank waits for its link to its
// successor, longer than others for theirs. Whether the link, this rank or its successor is at fault cannot be told.
#ifndef REKINDLE_WORKER_TRAIN_STRAGGLERS_H_
#define REKINDLE_WORKER_TRAIN_STRAGGLERS_H_

#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "worker/train/step_cost.h"

namespace rekindle::train {

struct Straggling {
  enum class Cause { kNone, kData, kCompute, kNetwork };
  Cause cause = Cause::kNone;
  double seconds = 0;   // data, compute: of its micro-batch; network: of a step, waiting for its link.
  double compared = 0;  // With the median of the others; network: with the time all ranks wait for the exchange.
};

// "data", "compute", "network" or empty.
const char* CauseName(Straggling::Cause cause);

// Pure. What it found stands until enough speaks against it, also into the next generation.
class Stragglers {
 public:
  // A generation begins: what was measured in another does not count.
  void Begin(int rank);
  // After each exchange, the costs by rank. The verdict on the own one.
  const Straggling& Add(std::span<const StepCost> costs);

 private:
  using Figure = std::function<double(const StepCost&)>;
  // Medians over the newest steps, by rank; a rank without a figure has 0.
  std::vector<double> Medians(const Figure& figure) const;
  Straggling JudgeSpeed() const;
  Straggling JudgeNetwork() const;

  size_t rank_ = 0;
  std::deque<std::vector<StepCost>> newest_;
  Straggling verdict_;
  int calm_ = 0;  // Steps in a row in which nothing spoke for it.
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STRAGGLERS_H_
