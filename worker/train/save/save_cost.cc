#include "worker/train/save/save_cost.h"

#include <algorithm>

#include "worker/train/arithmetic/median.h"

namespace rekindle::train {
namespace {

constexpr size_t kSteps = 50;
constexpr size_t kSaves = 5;
// Fewer steps than `kLeastSteps` say nothing about how much a save slows steps down.
constexpr size_t kLeastSteps = 3;

void Add(double value, size_t most, std::deque<double>* values) {
  values->push_back(value);
  if (values->size() > most) values->pop_front();
}

}  // namespace

void SaveCost::ForgetSteps() {
  usual_steps_.clear();
  in_flight_ = false;
}

void SaveCost::Step(double seconds, bool usual) {
  if (!usual) return;
  if (!in_flight_) return Add(seconds, kSteps, &usual_steps_);
  if (usual_steps_.size() >= kLeastSteps) slowed_ += seconds - Median({usual_steps_.begin(), usual_steps_.end()});
}

void SaveCost::Begun(double now) {
  in_flight_ = true;
  begun_at_ = now;
  stalled_ = 0;
  slowed_ = 0;
}

void SaveCost::Stalled(double seconds) { stalled_ += seconds; }

void SaveCost::Durable(double now) {
  if (!in_flight_) return;
  in_flight_ = false;
  // `slowed_` is the time by which the steps beside a save were slower than usual. It contains `stalled_`, the wait
  // before the optimizer, too. Noise in the times of the steps can nevertheless make `slowed_` smaller than `stalled_`.
  Add(std::max(stalled_, slowed_), kSaves, &training_);
  Add(std::max(0.0, now - begun_at_), kSaves, &durable_);
}

double SaveCost::training_seconds() const { return Median({training_.begin(), training_.end()}); }

double SaveCost::durable_seconds() const { return Median({durable_.begin(), durable_.end()}); }

}  // namespace rekindle::train
