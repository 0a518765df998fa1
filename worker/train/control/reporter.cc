#include "worker/train/control/reporter.h"

#include <algorithm>
#include <utility>

namespace rekindle::train {

void Reporter::Update(const std::function<void(Report&)>& change, bool urgent) {
  const common::MutexLock lock(mutex_);
  change(report_);
  control_.Publish(report_, urgent);
}

Report Reporter::Snapshot() const {
  const common::MutexLock lock(mutex_);
  return report_;
}

void Reporter::Enter(const Membership& membership) {
  const common::MutexLock lock(mutex_);
  interrupted_ = false;
  applying_ = false;
  report_.phase = Phase::kRunning;
  report_.error.clear();
  report_.generation = membership.generation;
  // If the generation resumes from an earlier checkpoint, the steps after it do not count as completed any more.
  report_.completed_step = std::min(report_.completed_step, membership.step);
  report_.accusations.clear();
  // The sentences about the last restore and the last flush are removed, because they tell of the generation before and
  // were already reported.
  report_.restored.clear();
  report_.flush.clear();
  control_.Publish(report_, true);
}

void Reporter::Assign(const std::set<int>& micro_batches) {
  const common::MutexLock lock(mutex_);
  report_.assigned.assign(micro_batches.begin(), micro_batches.end());
}

void Reporter::Computed(int count) {
  const common::MutexLock lock(mutex_);
  report_.computed = count;
}

void Reporter::Stand(bool stands) {
  const common::MutexLock lock(mutex_);
  if (interrupted_) return;
  report_.phase = stands ? Phase::kStanding : Phase::kRunning;
  control_.Publish(report_, true);
}

void Reporter::Interrupt(int generation, const Membership& membership, const absl::Status& error,
                         const std::vector<comm::Accusation>& accusations) {
  const common::MutexLock lock(mutex_);
  const bool enters = report_.phase == Phase::kRunning || report_.phase == Phase::kStanding;
  if (report_.generation != generation || !enters || interrupted_) return;
  interrupted_ = true;
  report_.error = std::string(error.message());
  report_.accusations.clear();
  for (const comm::Accusation& accusation : accusations) {
    const auto rank = static_cast<size_t>(accusation.rank);
    if (rank >= membership.members.size()) continue;
    report_.accusations.push_back({membership.members[rank].trainer, accusation.kind, accusation.detail});
  }
  if (!applying_) PublishInterruption();
}

void Reporter::PublishInterruption() {
  report_.phase = Phase::kInterrupted;
  control_.Publish(report_, true);
}

bool Reporter::Hold(std::vector<int> blocks, int total_blocks) {
  const common::MutexLock lock(mutex_);
  if (interrupted_ && !applying_) return false;
  report_.held_blocks = std::move(blocks);
  report_.total_blocks = total_blocks;
  report_.prepared = false;
  return true;
}

bool Reporter::Prepare() {
  const common::MutexLock lock(mutex_);
  report_.prepared = !interrupted_;
  return report_.prepared;
}

bool Reporter::BeginApply() {
  const common::MutexLock lock(mutex_);
  applying_ = !interrupted_;
  return applying_;
}

void Reporter::EndApply(int64_t step, int64_t attempt, const std::set<int>& next) {
  const common::MutexLock lock(mutex_);
  applying_ = false;
  report_.has_state = true;
  report_.step = step;
  report_.attempt = attempt;
  report_.prepared = false;
  report_.assigned.assign(next.begin(), next.end());
  report_.computed = 0;
  if (interrupted_) {
    PublishInterruption();
  } else {
    control_.Publish(report_, false);
  }
}

void Reporter::Leave(Phase phase, int64_t step) {
  const common::MutexLock lock(mutex_);
  // An interruption that was already reported stays in the report until the next membership.
  if (interrupted_) return;
  report_.phase = phase;
  report_.step = step;
  report_.assigned.clear();
  report_.computed = 0;
  control_.Publish(report_, true);
}

void Reporter::BecomeReady() {
  const common::MutexLock lock(mutex_);
  interrupted_ = false;
  report_.prepared = false;
  report_.phase = Phase::kReady;
  report_.error.clear();
  report_.accusations.clear();
  report_.assigned.clear();
  report_.computed = 0;
  control_.Publish(report_, true);
}

}  // namespace rekindle::train
