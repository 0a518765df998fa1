#include "coordinator/server/metrics/job_times.h"

#include <algorithm>
#include <set>

#include "coordinator/server/boards/job_board.h"

namespace rekindle::coordinator {

bool IsTraining(const v1::Job& job) {
  return job.status().state() == v1::RUNNING || job.status().state() == v1::FINISHING;
}

double UnsavedSinceBy(const v1::Event& event) {
  static const std::set<std::string> kinds = {"checkpoint_saved", "started", "resumed", "job_adopted"};
  return kinds.contains(event.kind()) ? event.at() : 0;
}

void JobTimes::Update(const v1::Job* before, const v1::Job& after, double now) {
  if (IsOver(after)) return Forget(after.uid());
  Times& times = jobs_[after.uid()];
  const v1::JobState was = before == nullptr ? v1::JOB_STATE_UNSPECIFIED : before->status().state();
  if (after.status().state() == v1::PENDING && was != v1::PENDING) times.pending_since = now;
  if (IsTraining(after) && (before == nullptr || !IsTraining(*before))) {
    times.training_since = now;
    times.guessed = before == nullptr;
  }
  if (before != nullptr && after.status().checkpoint_step() > before->status().checkpoint_step()) times.saved_at = now;
}

const JobTimes::Times* JobTimes::Find(const std::string& uid) const {
  const auto found = jobs_.find(uid);
  return found == jobs_.end() ? nullptr : &found->second;
}

double JobTimes::WaitsSince(const v1::Job& job) const {
  const Times* times = Find(job.uid());
  const bool has_trained = job.status().generation() > 0;
  return has_trained && times != nullptr ? times->pending_since : job.status().submitted_at();
}

double JobTimes::UnsavedSince(const v1::Job& job) const {
  const Times* times = Find(job.uid());
  return times == nullptr ? job.status().submitted_at() : std::max(times->training_since, times->saved_at);
}

bool JobTimes::IsGuessed(const std::string& uid) const {
  const Times* times = Find(uid);
  return times != nullptr && times->guessed;
}

void JobTimes::Recall(const std::string& uid, double unsaved_since) {
  const auto found = jobs_.find(uid);
  if (found == jobs_.end() || !found->second.guessed) return;
  Times& times = found->second;
  times.guessed = false;
  if (unsaved_since > 0) times.training_since = std::min(times.training_since, unsaved_since);
}

}  // namespace rekindle::coordinator
