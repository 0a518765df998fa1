#include "worker/agent/agent_metrics.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace rekindle::agent {
namespace {

constexpr int kMaxRank = 4096;  // What a trainer says becomes a label: bounded.

struct CounterField {
  const char* name;
  const char* help;
  double (v1::TrainerMetrics::*value)() const;
};

constexpr CounterField kCounters[] = {
    {"rekindle_steps_total", "Steps completed.", &v1::TrainerMetrics::steps},
    {"rekindle_tokens_total", "Tokens trained on.", &v1::TrainerMetrics::tokens},
    {"rekindle_step_data_seconds_total", "Time spent waiting for data.", &v1::TrainerMetrics::data_seconds},
    {"rekindle_step_compute_seconds_total", "Time in forward and backward.", &v1::TrainerMetrics::compute_seconds},
    {"rekindle_step_reduce_seconds_total", "Time waiting for the exchange after backward.",
     &v1::TrainerMetrics::reduce_seconds},
    {"rekindle_step_optimizer_seconds_total", "Time in the optimizer.", &v1::TrainerMetrics::optimizer_seconds},
    {"rekindle_step_stall_seconds_total", "Time waiting for a membership or for state.",
     &v1::TrainerMetrics::stall_seconds},
    {"rekindle_checkpoint_stall_seconds_total", "Time the steps stood still for a checkpoint.",
     &v1::TrainerMetrics::checkpoint_stall_seconds},
    {"rekindle_micro_batches_redone_total", "Micro-batches computed again after a fault.",
     &v1::TrainerMetrics::micro_batches_redone},
};

}  // namespace

AgentMetrics::AgentMetrics()
    : trainers_(metrics_.Gauge("rekindle_worker_trainers", "Trainers that run on this node.")),
      foreign_(metrics_.Gauge("rekindle_worker_foreign_coordinator",
                              "1 where the coordinator that answers is of another cluster, or of the past.")),
      restarts_(metrics_.Counter("rekindle_worker_trainer_restarts_total", "Trainers started again after their end.")) {
}

void AgentMetrics::CountNotices(const std::string& source, const NoticeCounts& counts) {
  const auto count = [&](const char* kind, int notices) {
    if (notices == 0) return;
    metrics_
        .Counter("rekindle_notices_total", "Notices that this machine was given, by source.",
                 {{"source", source}, {"kind", kind}})
        .Increment(notices);
  };
  count("leaves", counts.leaves);
  count("hint", counts.hints);
  count("withdrawn", counts.withdrawn);
}

void AgentMetrics::Advance(const std::string& job, const v1::TrainerMetrics& before, const v1::TrainerMetrics& now) {
  if (now.rank() < 0 || now.rank() > kMaxRank) return;
  const common::Metrics::Labels labels = {{"job", job}, {"rank", absl::StrCat(now.rank())}};
  for (const CounterField& field : kCounters) {
    const double growth = (now.*field.value)() - (before.*field.value)();
    prometheus::Counter& counter = metrics_.Counter(field.name, field.help, labels);
    if (std::isfinite(growth) && growth > 0) counter.Increment(growth);
  }
  metrics_.Gauge("rekindle_step_seconds", "Time of a step, smoothed.", labels).Set(now.step_seconds());
  metrics_.Gauge("rekindle_step_micro_batches", "Micro-batches of a step that the trainer computes.", labels)
      .Set(now.micro_batches());
  metrics_.Gauge("rekindle_generation", "Generation the trainer is in.", labels).Set(now.generation());
}

}  // namespace rekindle::agent
