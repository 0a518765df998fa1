#include "coordinator/server/job_metrics.h"

#include "absl/strings/ascii.h"
#include "coordinator/server/job_board.h"

namespace rekindle::coordinator {
namespace {

void Raise(prometheus::Counter& counter, int before, int after) {
  if (after > before) counter.Increment(after - before);
}

// What opened that generation: a fault's kind, else that of the event that told of it. Both are from a fixed set.
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
      steps_(metrics->Counter("rekindle_steps_total", "Steps completed.")),
      steps_redone_(metrics->Counter("rekindle_steps_redone_total", "Completed steps computed again.")),
      micro_batches_redone_(
          metrics->Counter("rekindle_micro_batches_redone_total", "Micro-batches computed again after a fault.")),
      skipped_steps_(metrics->Counter("rekindle_skipped_steps_total",
                                      "Attempts redone at half the loss scale, after an overflow of FP16.")),
      checkpoint_failures_(metrics->Counter("rekindle_checkpoint_failures_total", "Checkpoints that failed.")),
      spent_(metrics->Counter("rekindle_spent_total", "What nodes have cost all jobs, in the fleet file's currency.")) {
}

prometheus::Gauge& JobMetrics::JobsLike(const v1::Job& job) {
  return metrics_->Gauge("rekindle_jobs", "Jobs by state.",
                         {{"state", absl::AsciiStrToLower(v1::JobState_Name(job.status().state()))}});
}

void JobMetrics::Forget(const v1::Job& job) {
  JobsLike(job).Decrement();
  measured_faults_.erase(job.uid());
}

void JobMetrics::Update(const v1::Job* before, const v1::Job& after, const std::vector<v1::Event>& events) {
  if (before != nullptr) JobsLike(*before).Decrement();
  JobsLike(after).Increment();
  if (before != nullptr) CountStragglers(*before, -1);
  CountStragglers(after, 1);
  CountFaults(before, after);
  ShowCost(after);
  if (before == nullptr) return;
  const v1::JobStatus& from = before->status();
  const v1::JobStatus& to = after.status();
  if (to.generation() > from.generation()) {
    metrics_
        ->Counter("rekindle_generation_changes_total", "Changes of membership.",
                  {{"reason", GenerationReason(after, events)}})
        .Increment(to.generation() - from.generation());
  }
  Raise(steps_, from.step(), to.step());
  Raise(steps_redone_, from.steps_redone(), to.steps_redone());
  Raise(micro_batches_redone_, from.micro_batches_redone(), to.micro_batches_redone());
  Raise(skipped_steps_, from.skipped_steps(), to.skipped_steps());
  Raise(checkpoint_failures_, from.checkpoints_failed(), to.checkpoints_failed());
  if (to.cost().spent() > from.cost().spent()) spent_.Increment(to.cost().spent() - from.cost().spent());
}

void JobMetrics::ShowCost(const v1::Job& job) {
  const v1::Cost& cost = job.status().cost();
  const auto show = [&](const char* name, const char* help, bool there, double value) {
    const common::Metrics::Labels labels = {{"job", job.name()}};
    if (there && !IsOver(job)) {
      metrics_->Gauge(name, help, labels).Set(value);
    } else {
      metrics_->RemoveGauge(name, help, labels);
    }
  };
  show("rekindle_job_cost_spent", "What a live job has cost, in the fleet file's currency.", cost.until() > 0,
       cost.spent());
  show("rekindle_job_cost_rate", "What its nodes cost an hour.", cost.until() > 0, cost.rate());
  show("rekindle_job_budget_ratio", "Share of its budget that is spent.", cost.budget() > 0,
       cost.budget() > 0 ? cost.spent() / cost.budget() : 0);
}

void JobMetrics::CountStragglers(const v1::Job& job, int sign) {
  for (const v1::MemberStatus& member : job.status().members()) {
    if (member.straggler().empty()) continue;
    metrics_
        ->Gauge("rekindle_stragglers", "Trainers slower than the others of their job, by what they are slow at.",
                {{"cause", member.straggler()}})
        .Increment(sign);
  }
}

// A pause is known once a step was completed after the fault.
void JobMetrics::CountFaults(const v1::Job* before, const v1::Job& after) {
  if (IsOver(after)) {
    measured_faults_.erase(after.uid());
    return;
  }
  if (before != nullptr && after.status().step() <= before->status().step()) return;
  std::set<int>& measured = measured_faults_[after.uid()];
  std::set<int> shown;  // Of a job that lives long the status has the newest faults only.
  for (const v1::Fault& fault : after.status().faults()) {
    const bool is_new = shown.insert(fault.generation()).second && measured.count(fault.generation()) == 0;
    if (is_new && before != nullptr) pause_seconds_.Observe(fault.pause_seconds());
  }
  measured = std::move(shown);
}

}  // namespace rekindle::coordinator
