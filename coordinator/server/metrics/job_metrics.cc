#include "coordinator/server/metrics/job_metrics.h"

#include <algorithm>
#include <utility>

#include "coordinator/server/boards/job_board.h"

namespace rekindle::coordinator {
namespace {

// The sums over all jobs are shown once each job has reported a step, or has reported none for `kUnheardSeconds`
// seconds.
constexpr double kUnheardSeconds = 10;

// Returns why the job's newest generation was formed: the kind of a fault, or else the kind of the event that reported
// the generation. Both come from a fixed set of words.
std::string GenerationReason(const v1::Job& job, const std::vector<v1::Event>& events) {
  const int generation = job.status().generation();
  for (const v1::Fault& fault : job.status().faults()) {
    if (fault.generation() == generation) return fault.kind();
  }
  for (const v1::Event& event : events) {
    if (event.job() == job.name() && event.generation() == generation) return event.kind();
  }
  return "other";
}

}  // namespace

JobMetrics::JobMetrics(common::Metrics* metrics)
    : metrics_(metrics),
      pause_seconds_(metrics->Histogram("rekindle_pause_seconds", "Pause of training by one fault.")),
      checkpoints_saved_(metrics->Counter("rekindle_checkpoints_saved_total",
                                          "Checkpoints of jobs that became durable, since the coordinator's start.")) {}

void JobMetrics::Forget(const std::string& uid) {
  measured_faults_.erase(uid);
  times_.Forget(uid);
  unheard_.erase(uid);
  totals_.Gone(uid);
}

void JobMetrics::Update(const v1::Job* before, const v1::Job& after, const std::vector<v1::Event>& events, double now) {
  times_.Update(before, after, now);
  CountFaults(before, after);
  if (before == nullptr && IsTraining(after)) unheard_[after.uid()] = now;
  if (before == nullptr) return;
  const v1::JobStatus& from = before->status();
  const v1::JobStatus& to = after.status();
  // A report of an agent, or what the job has been charged, changes its status too, but tells nothing about its steps.
  if (to.step() > from.step() || IsOver(after)) unheard_.erase(after.uid());
  if (to.generation() > from.generation()) {
    metrics_
        ->Counter("rekindle_generation_changes_total", "Changes of membership, since the coordinator's start.",
                  {{"reason", GenerationReason(after, events)}})
        .Increment(to.generation() - from.generation());
  }
  if (to.checkpoint_step() > from.checkpoint_step()) checkpoints_saved_.Increment();
}

bool JobMetrics::AreTotalsSettled(double now) const {
  return std::none_of(unheard_.begin(), unheard_.end(),
                      [now](const auto& each) { return now < each.second + kUnheardSeconds; });
}

// The length of a pause is known once a step was completed after the fault.
void JobMetrics::CountFaults(const v1::Job* before, const v1::Job& after) {
  if (IsOver(after)) {
    measured_faults_.erase(after.uid());
    return;
  }
  // What an earlier coordinator has measured, or this one before the job had failed and was resumed, is not news.
  const bool goes_on = before != nullptr && !IsOver(*before);
  if (goes_on && after.status().step() <= before->status().step()) return;
  std::set<int>& measured = measured_faults_[after.uid()];
  // Only generations of faults that the job's status still shows are remembered: it never shows a dropped fault again.
  std::set<int> shown;
  for (const v1::Fault& fault : after.status().faults()) {
    const bool is_new = shown.insert(fault.generation()).second && measured.count(fault.generation()) == 0;
    if (is_new && goes_on) pause_seconds_.Observe(fault.pause_seconds());
  }
  measured = std::move(shown);
}

}  // namespace rekindle::coordinator
