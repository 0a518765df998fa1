#include "coordinator/server/metrics/job_totals.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "coordinator/store/record_keys.h"

namespace rekindle::coordinator {
namespace {

using nlohmann::json;

constexpr double kSecondsAnHour = 3600, kGramsAKilogram = 1000;

struct NamedSum {
  const char* name;
  double JobSums::*value;
};

constexpr NamedSum kSums[] = {{"steps", &JobSums::steps},
                              {"steps_redone", &JobSums::steps_redone},
                              {"micro_batches_redone", &JobSums::micro_batches_redone},
                              {"skipped_steps", &JobSums::skipped_steps},
                              {"checkpoints_failed", &JobSums::checkpoints_failed},
                              {"node_hours", &JobSums::node_hours},
                              {"kg_co2", &JobSums::kg_co2}};

}  // namespace

void JobSums::Add(const v1::JobStatus& status) {
  steps += status.step();
  steps_redone += status.steps_redone();
  micro_batches_redone += status.micro_batches_redone();
  skipped_steps += status.skipped_steps();
  checkpoints_failed += status.checkpoints_failed();
  node_hours += status.cost().node_hours();
  kg_co2 += status.cost().kg_co2();
  if (status.cost().spent() > 0) cost[status.cost().currency()] += status.cost().spent();
}

void JobSums::Add(const JobSums& other) {
  for (const NamedSum& sum : kSums) this->*sum.value += other.*sum.value;
  for (const auto& [currency, amount] : other.cost) cost[currency] += amount;
}

void JobSums::Raise(const JobSums& other) {
  for (const NamedSum& sum : kSums) this->*sum.value = std::max(this->*sum.value, other.*sum.value);
  for (const auto& [currency, amount] : other.cost) cost[currency] = std::max(cost[currency], amount);
}

std::string ToText(const JobSums& sums) {
  json text = {{"cost", json::object()}};
  for (const NamedSum& sum : kSums) text[sum.name] = sums.*sum.value;
  for (const auto& [currency, amount] : sums.cost) text["cost"][currency] = amount;
  return text.dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

absl::StatusOr<JobSums> ParseJobSums(const std::string& text) {
  const json parsed = json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto amount = [](const json& value) -> std::optional<double> {
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0) return std::nullopt;
    return value.get<double>();
  };
  const absl::Status damaged =
      absl::DataLossError(absl::StrCat("state store: record ", kForgottenJobsKey, " cannot be read"));
  if (!parsed.is_object()) return damaged;
  JobSums sums;
  for (const NamedSum& sum : kSums) {
    // A record that lacks one of the sums was written by an earlier release, which did not have that sum.
    if (!parsed.contains(sum.name)) continue;
    const std::optional<double> value = amount(parsed[sum.name]);
    if (!value) return damaged;
    sums.*sum.value = *value;
  }
  if (!parsed.contains("cost")) return sums;
  if (!parsed["cost"].is_object()) return damaged;
  for (const auto& [currency, given] : parsed["cost"].items()) {
    const std::optional<double> value = amount(given);
    if (!value) return damaged;
    sums.cost[currency] = *value;
  }
  return sums;
}

void AddTotals(const JobSums& sums, common::MetricSamples& samples) {
  samples.Counter("rekindle_steps_total", "Steps that jobs have completed, each counted once.", sums.steps);
  samples.Counter("rekindle_steps_redone_total", "Completed steps that were computed again.", sums.steps_redone);
  samples.Counter("rekindle_micro_batches_redone_total", "Micro-batches that were computed again after a fault.",
                  sums.micro_batches_redone);
  samples.Counter("rekindle_skipped_steps_total",
                  "Attempts at a step that were redone at half the loss scale, after an overflow of FP16.",
                  sums.skipped_steps);
  samples.Counter("rekindle_checkpoints_failed_total", "Checkpoints of jobs that failed.", sums.checkpoints_failed);
  samples.Counter("rekindle_node_seconds_total",
                  "Time for which jobs have held nodes; half of the slots is half a node.",
                  sums.node_hours * kSecondsAnHour);
  samples.Counter("rekindle_co2_grams_total",
                  "Carbon dioxide of the nodes that jobs held, where the intensity of their region is known.",
                  sums.kg_co2 * kGramsAKilogram);
  for (const auto& [currency, amount] : sums.cost) {
    samples.Counter("rekindle_cost_total", "What nodes have cost all jobs, in that currency.", amount,
                    {{"currency", currency}});
  }
}

absl::Status JobTotals::Load(StateStore& store) {
  const absl::StatusOr<std::optional<Entry>> entry = store.Get(kForgottenJobsKey);
  if (!entry.ok()) return entry.status();
  if (!entry->has_value()) return absl::OkStatus();
  absl::StatusOr<JobSums> sums = ParseJobSums((*entry)->value);
  if (sums.ok()) {
    forgotten_ = *std::move(sums);
  } else {
    log::Warning("metrics of forgotten jobs begin anew", {{"error", std::string(sums.status().message())}});
  }
  return absl::OkStatus();
}

Write JobTotals::Forget(const std::string& uid, const v1::Job* job) {
  if (job != nullptr) {
    forgotten_.Add(job->status());
    leaving_.insert(uid);
  } else if (const auto restored = restored_.find(uid); restored != restored_.end()) {
    forgotten_.Add(restored->second);
    restored_.erase(restored);
  }
  return {kForgottenJobsKey, ToText(forgotten_), std::nullopt};
}

}  // namespace rekindle::coordinator
