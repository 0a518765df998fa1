// Which micro-batches each rank computes in whole steps. A generation begins with the ranges of its membership; then
// they follow what the ranks measure. All ranks know all measurements (StepMessage), so all cut alike, from the same
// step on, without a pause, another generation or the coordinator.
//
// Pure: the ranges are a function of the membership and of the costs added since.
#ifndef REKINDLE_WORKER_TRAIN_STEP_RANGES_H_
#define REKINDLE_WORKER_TRAIN_STEP_RANGES_H_

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "worker/train/step_cost.h"

namespace rekindle::train {

// Micro-batches [begin, end).
struct StepRange {
  int begin = 0;
  int end = 0;

  int size() const { return end - begin; }
  bool operator==(const StepRange&) const = default;
};

class StepRanges {
 public:
  struct Recut {
    std::vector<int> before;  // Micro-batches by rank.
    std::vector<int> after;
    double seconds_before = 0;  // That the slowest rank computes a step.
    double seconds_after = 0;
  };

  // `ranges`: the membership's, by rank; contiguous from 0, none empty.
  explicit StepRanges(std::vector<StepRange> ranges);

  // After each exchange, the costs by rank. A value: the ranges were cut anew, for the steps from the next one on.
  std::optional<Recut> Add(std::span<const StepCost> costs);

  const StepRange& of(int rank) const { return ranges_[static_cast<size_t>(rank)]; }
  // Of a micro-batch, median of the newest steps; 0 before a few are measured.
  double seconds(int rank) const;
  // That the slowest rank computes less a step than with equal shares; 0 before all are measured.
  double seconds_saved() const;

 private:
  void Measure(std::deque<double>& newest, const StepCost& cost);
  std::vector<double> Seconds() const;  // Empty before all are measured.
  std::vector<int> Sizes() const;
  bool Pays(const std::vector<int>& sizes, const std::vector<double>& seconds, Recut* recut) const;
  std::vector<double> Uncertainty(const std::vector<double>& seconds) const;

  std::vector<StepRange> ranges_;
  std::vector<int> equal_;                    // Shares of ranks of equal speed.
  std::vector<std::deque<double>> measured_;  // Seconds of a micro-batch in the newest steps, by rank.
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_RANGES_H_
