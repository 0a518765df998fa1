#include "worker/agent/trainers/agent_metrics.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace rekindle::agent {
namespace {

// The rank that a trainer reports becomes a label of its metrics, so it is bounded.
constexpr int kMaxRank = 4096;

using Getter = double (v1::TrainerMetrics::*)() const;
using Setter = void (v1::TrainerMetrics::*)(double);

struct CounterField {
  const char* name;
  const char* help;
  // `phase` names the phase of a step whose time the counter sums. It is empty for a counter of anything else.
  const char* phase;
  Getter get;
  Setter set;
};

constexpr char kPhaseSeconds[] = "rekindle_trainer_phase_seconds_total";
constexpr char kPhaseHelp[] =
    "Where a trainer's time went: data (waiting for it), compute (forward and backward), reduce (waiting for the "
    "exchange "
    "after backward), optimizer, stall (waiting for a membership or for state), checkpoint (waiting for the copy of "
    "one).";

constexpr CounterField kCounters[] = {
    {"rekindle_trainer_steps_total", "Steps that a trainer has made.", "", &v1::TrainerMetrics::steps,
     &v1::TrainerMetrics::set_steps},
    {"rekindle_trainer_tokens_total", "Tokens, or samples of models that read none, that a trainer has computed.", "",
     &v1::TrainerMetrics::tokens, &v1::TrainerMetrics::set_tokens},
    {"rekindle_trainer_micro_batches_redone_total", "Micro-batches that a trainer has computed again after a fault.",
     "", &v1::TrainerMetrics::micro_batches_redone, &v1::TrainerMetrics::set_micro_batches_redone},
    {kPhaseSeconds, kPhaseHelp, "data", &v1::TrainerMetrics::data_seconds, &v1::TrainerMetrics::set_data_seconds},
    {kPhaseSeconds, kPhaseHelp, "compute", &v1::TrainerMetrics::compute_seconds,
     &v1::TrainerMetrics::set_compute_seconds},
    {kPhaseSeconds, kPhaseHelp, "reduce", &v1::TrainerMetrics::reduce_seconds, &v1::TrainerMetrics::set_reduce_seconds},
    {kPhaseSeconds, kPhaseHelp, "optimizer", &v1::TrainerMetrics::optimizer_seconds,
     &v1::TrainerMetrics::set_optimizer_seconds},
    {kPhaseSeconds, kPhaseHelp, "stall", &v1::TrainerMetrics::stall_seconds, &v1::TrainerMetrics::set_stall_seconds},
    {kPhaseSeconds, kPhaseHelp, "checkpoint", &v1::TrainerMetrics::checkpoint_stall_seconds,
     &v1::TrainerMetrics::set_checkpoint_stall_seconds},
};

}  // namespace

AgentMetrics::AgentMetrics(common::TimeSource now)
    : now_(std::move(now)),
      trainers_(metrics_.Gauge("rekindle_worker_trainers", "Trainers that run on this node.")),
      failed_slots_(
          metrics_.Gauge("rekindle_worker_failed_slots", "Slots that are out of use since their GPU failed.")),
      foreign_(metrics_.Gauge("rekindle_worker_foreign_coordinator",
                              "1 where the coordinator that answers is of another cluster, or of the past.")),
      restarts_(metrics_.Counter("rekindle_worker_trainer_restarts_total", "Trainers started again after their end.")) {
  metrics_.AddSource([this](common::MetricSamples& samples) { AddTrainers(samples); });
}

void AgentMetrics::CountNotices(const std::string& source, const NoticeCounts& counts) {
  const auto count = [&](const char* kind, int notices) {
    if (notices == 0) return;
    metrics_
        .Counter("rekindle_worker_notices_total", "Notices that this machine was given, by source.",
                 {{"source", source}, {"kind", kind}})
        .Increment(notices);
  };
  count("leaves", counts.leaves);
  count("hint", counts.hints);
  count("withdrawn", counts.withdrawn);
}

void AgentMetrics::Advance(const std::string& job, const v1::TrainerMetrics& before, const v1::TrainerMetrics& now) {
  if (now.rank() < 0 || now.rank() > kMaxRank) return;
  const common::MutexLock lock(mutex_);
  Said& said = said_[{job, now.rank()}];
  said.at = now_();
  v1::TrainerMetrics sums = now;
  for (const CounterField& field : kCounters) {
    const double growth = (now.*field.get)() - (before.*field.get)();
    (sums.*field.set)((said.sums.*field.get)() + (std::isfinite(growth) ? std::max(0.0, growth) : 0));
  }
  said.sums = std::move(sums);
  if (said_.size() <= kMaxTrainers) return;
  said_.erase(std::min_element(said_.begin(), said_.end(),
                               [](const auto& a, const auto& b) { return a.second.at < b.second.at; }));
}

void AgentMetrics::AddTrainers(common::MetricSamples& samples) {
  const common::MutexLock lock(mutex_);
  const double now = now_();
  std::erase_if(said_, [now](const auto& each) { return now > each.second.at + kKeptSeconds; });
  for (const auto& [key, said] : said_) {
    const common::MetricSamples::Labels labels = {{"job_name", key.first}, {"rank", absl::StrCat(key.second)}};
    for (const CounterField& field : kCounters) {
      common::MetricSamples::Labels all = labels;
      if (*field.phase != '\0') all["phase"] = field.phase;
      samples.Counter(field.name, field.help, (said.sums.*field.get)(), all);
    }
    if (std::isfinite(said.sums.step_seconds())) {
      samples.Gauge("rekindle_trainer_step_seconds", "Time of a trainer's step, smoothed.", said.sums.step_seconds(),
                    labels);
    }
    if (std::isfinite(said.sums.micro_batches())) {
      samples.Gauge("rekindle_trainer_step_micro_batches", "Micro-batches of a step that the trainer computes.",
                    said.sums.micro_batches(), labels);
    }
    samples.Gauge("rekindle_trainer_generation", "Generation that the trainer is in.", said.sums.generation(), labels);
  }
}

}  // namespace rekindle::agent
