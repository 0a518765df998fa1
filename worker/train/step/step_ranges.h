// Decides which micro-batches each rank computes in whole steps. A generation begins with the ranges of its membership.
// Then the ranges follow the speeds that the ranks measure. All ranks know all measurements (StepMessage), so all
// choose the same ranges, from the same step on. Such a change needs no pause, no new generation and no coordinator.
//
// The class is pure: the ranges depend only on the membership and on the costs that were added since.
#ifndef REKINDLE_WORKER_TRAIN_STEP_STEP_RANGES_H_
#define REKINDLE_WORKER_TRAIN_STEP_STEP_RANGES_H_

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "worker/train/step/step_cost.h"

namespace rekindle::train {

// Describes the micro-batches [begin, end) of a step.
struct StepRange {
  int begin = 0;
  int end = 0;

  int size() const { return end - begin; }
  bool operator==(const StepRange&) const = default;
};

class StepRanges {
 public:
  struct Recut {
    // `before` and `after` are the numbers of micro-batches of each rank before and after the change of the ranges.
    std::vector<int> before;
    std::vector<int> after;
    // `seconds_before` and `seconds_after` are how long the slowest rank computes in a step before and after the
    // change.
    double seconds_before = 0;
    double seconds_after = 0;
  };

  // `ranges` are the ranges of the membership, indexed by rank. They must be contiguous from 0, and none may be empty.
  explicit StepRanges(std::vector<StepRange> ranges);

  // Adds the costs of a step, indexed by rank. The caller calls Add() after each exchange. Returns a value if the
  // ranges have changed. The new ranges apply from the next step on.
  std::optional<Recut> Add(std::span<const StepCost> costs);

  const StepRange& of(int rank) const { return ranges_[static_cast<size_t>(rank)]; }
  // Returns the seconds of one micro-batch on `rank`, as the median of the newest steps, or 0 before enough steps are
  // measured.
  double seconds(int rank) const;
  // Returns by how many seconds a step the slowest rank computes less than with equal shares, or 0 before all ranks are
  // measured.
  double seconds_saved() const;

 private:
  void Measure(std::deque<double>& newest, const StepCost& cost);
  // Returns the seconds of one micro-batch, indexed by rank, or nothing before all ranks are measured.
  std::vector<double> Seconds() const;
  std::vector<int> Sizes() const;
  bool Pays(const std::vector<int>& sizes, const std::vector<double>& seconds, Recut* recut) const;
  std::vector<double> Uncertainty(const std::vector<double>& seconds) const;

  std::vector<StepRange> ranges_;
  // `equal_` holds the numbers of micro-batches that ranks of equal speed would have.
  std::vector<int> equal_;
  // `measured_` holds for each rank the seconds of one micro-batch in the newest steps.
  std::vector<std::deque<double>> measured_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STEP_STEP_RANGES_H_
