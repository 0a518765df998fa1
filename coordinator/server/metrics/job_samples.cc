#include "coordinator/server/metrics/job_samples.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "absl/strings/ascii.h"
#include "coordinator/server/metrics/job_times.h"
#include "worker/models/declared/model_kind.h"

namespace rekindle::coordinator {
namespace {

constexpr double kGramsAKilogram = 1000;

// Adds the gauges of one job, labelled with its name. It leaves out values that are not finite numbers.
class JobGauges {
 public:
  JobGauges(const v1::Job& job, common::MetricSamples& samples) : job_(job), samples_(samples) {}

  void Add(const char* name, const char* help, double value, const common::MetricSamples::Labels& more = {}) {
    if (!std::isfinite(value)) return;
    common::MetricSamples::Labels labels = more;
    labels["job_name"] = job_.name();
    samples_.Gauge(name, help, value, labels);
  }

 private:
  const v1::Job& job_;
  common::MetricSamples& samples_;
};

void AddProgress(const v1::JobStatus& status, JobGauges& gauges) {
  gauges.Add("rekindle_job_step", "Steps that the job has completed.", status.step());
  gauges.Add("rekindle_job_steps_planned", "Steps that the job is to make.", status.resolved_spec().training().steps());
  gauges.Add("rekindle_job_generation", "Generation of the job's membership.", status.generation());
  if (status.step() > 0) gauges.Add("rekindle_job_loss", "Training loss of the last step.", status.loss());
  if (status.validation_curve_size() > 0) {
    gauges.Add("rekindle_job_validation_loss", "Loss of the last evaluation.", status.validation_loss());
  }
}

void AddSpeed(const v1::JobStatus& status, JobGauges& gauges) {
  gauges.Add("rekindle_job_workers", "Trainers that are members of the job.", status.members_size());
  const auto slow = std::count_if(status.members().begin(), status.members().end(),
                                  [](const v1::MemberStatus& member) { return !member.straggler().empty(); });
  gauges.Add("rekindle_job_stragglers", "Members that are slower than the others.", static_cast<double>(slow));
  if (status.step_seconds() > 0)
    gauges.Add("rekindle_job_step_seconds", "Time of a step, smoothed.", status.step_seconds());
  if (status.tokens_per_second() <= 0) return;
  const models::ModelKind* model = models::FindModel(status.resolved_spec().model().kind());
  if (model != nullptr && train::IsWindow(model->reads)) {
    gauges.Add("rekindle_job_tokens_per_second", "Tokens trained on, of models that read tokens.",
               status.tokens_per_second());
  } else {
    gauges.Add("rekindle_job_samples_per_second", "Samples trained on, of models that do not read tokens.",
               status.tokens_per_second());
  }
}

void AddCheckpoints(const LiveJob& live, double now, JobGauges& gauges) {
  const v1::JobStatus& status = live.job->status();
  if (status.checkpoint_step() >= 0) {
    gauges.Add("rekindle_job_checkpoint_step", "Step of the newest durable checkpoint.", status.checkpoint_step());
  }
  if (!IsTraining(*live.job)) return;
  gauges.Add("rekindle_job_checkpoint_age_seconds",
             "Time since the newest durable checkpoint of a job that trains, or since it began to train, where that is "
             "later.",
             std::max(0.0, now - live.unsaved_since));
  const double interval = CheckpointIntervalOf(status);
  if (interval <= 0) return;
  gauges.Add("rekindle_job_checkpoint_interval_seconds", "How often a checkpoint is to be durable.", interval);
}

void AddCost(const v1::Cost& cost, JobGauges& gauges) {
  if (cost.carbon_node_hours() > 0) {
    gauges.Add("rekindle_job_co2_grams", "Carbon dioxide of the job's nodes, where their intensity is known.",
               cost.kg_co2() * kGramsAKilogram);
  }
  if (cost.until() <= 0) return;
  const common::MetricSamples::Labels in = {{"currency", cost.currency()}};
  gauges.Add("rekindle_job_cost", "What the job has cost, in that currency.", cost.spent(), in);
  gauges.Add("rekindle_job_cost_per_hour", "What the job's nodes cost an hour.", cost.rate(), in);
  if (cost.rated_hours() > 0) {
    gauges.Add("rekindle_job_usual_cost_per_hour", "Mean of what its nodes cost an hour, of about the last hour.",
               cost.usual_rate(), in);
  }
  if (cost.forecast() > 0) {
    gauges.Add("rekindle_job_cost_forecast", "What the job will have cost when its last step is done.", cost.forecast(),
               in);
  }
  if (cost.budget() <= 0) return;
  gauges.Add("rekindle_job_budget", "What the job may cost.", cost.budget(), in);
  gauges.Add("rekindle_job_budget_spent_ratio", "Share of its budget that the job has spent.",
             cost.spent() / cost.budget());
}

}  // namespace

double CheckpointIntervalOf(const v1::JobStatus& status) {
  const v1::JobSpec::Checkpoint& checkpoint = status.resolved_spec().checkpoint();
  if (checkpoint.has_every_seconds()) return checkpoint.every_seconds();
  if (!checkpoint.interval().empty()) return status.checkpoint_interval_seconds();
  return checkpoint.every_steps() * status.step_seconds();
}

void AddQueueSamples(const std::vector<LiveJob>& jobs, double now, common::MetricSamples& samples) {
  double waiting = 0, slots = 0, longest = 0;
  for (const LiveJob& live : jobs) {
    if (live.job->status().state() != v1::PENDING) continue;
    ++waiting;
    slots += std::max(1, live.job->status().resolved_spec().workers().min());
    longest = std::max(longest, now - live.waits_since);
  }
  samples.Gauge("rekindle_queue_jobs", "Jobs that wait for workers.", waiting);
  samples.Gauge("rekindle_queue_slots", "Slots that the jobs in the queue need together, at least.", slots);
  samples.Gauge("rekindle_queue_longest_wait_seconds",
                "How long the job in the queue that has waited longest does; 0: the queue is empty.", longest);
}

void AddJobSamples(std::vector<LiveJob> jobs, double now, common::MetricSamples& samples) {
  std::map<std::string, double> stragglers = {{"data", 0}, {"compute", 0}, {"network", 0}};
  for (const LiveJob& live : jobs) {
    for (const v1::MemberStatus& member : live.job->status().members()) {
      const auto cause = stragglers.find(member.straggler());
      if (IsTraining(*live.job) && cause != stragglers.end()) ++cause->second;
    }
  }
  for (const auto& [cause, count] : stragglers) {
    samples.Gauge("rekindle_stragglers", "Trainers slower than the others of their job, by what they are slow at.",
                  count, {{"cause", cause}});
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const LiveJob& a, const LiveJob& b) {
    const bool first = IsTraining(*a.job), second = IsTraining(*b.job);
    if (first != second) return first;
    return a.job->status().submitted_at() < b.job->status().submitted_at();
  });
  const size_t listed = std::min(jobs.size(), kListedJobs);
  samples.Gauge("rekindle_jobs_unlisted", "Live jobs beyond those that have series of their own.",
                static_cast<double>(jobs.size() - listed));
  jobs.resize(listed);
  for (const LiveJob& live : jobs) {
    const v1::JobStatus& status = live.job->status();
    JobGauges gauges(*live.job, samples);
    gauges.Add(
        "rekindle_job_info", "1; the labels say what the job is.", 1,
        {{"state", absl::AsciiStrToLower(v1::JobState_Name(status.state()))}, {"team", live.job->spec().team()}});
    AddProgress(status, gauges);
    if (IsTraining(*live.job)) AddSpeed(status, gauges);
    AddCheckpoints(live, now, gauges);
    AddCost(status.cost(), gauges);
  }
}

}  // namespace rekindle::coordinator
