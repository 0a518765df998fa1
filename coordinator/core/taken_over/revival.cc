#include "coordinator/core/taken_over/revival.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "coordinator/core/generation/retries.h"
#include "coordinator/core/record/job_json.h"
#include "coordinator/core/record/record_age.h"
#include "coordinator/core/state/text.h"
#include "coordinator/market/goal_words.h"

namespace rekindle::core {
namespace {

// It is assumed that a job forms fewer generations than this between two checkpoints.
constexpr int kUnseenGenerations = 1000;

// Charges a job that was recovered from its file in the store for the time since that file was written. What the job's
// nodes did meanwhile is recorded nowhere, so they are charged at the last rate.
void Estimate(double unix_now, v1::Cost* cost) {
  const double hours = (unix_now - cost->until()) / kHour;
  if (cost->until() <= 0 || hours <= 0) return;
  double nodes = 0;
  for (v1::PoolCost& line : *cost->mutable_pools()) {
    const double node_hours = line.nodes() * hours;
    if (node_hours <= 0) continue;
    const double spent = node_hours * line.price();
    const double on_demand = line.node_hours() > 0 ? line.on_demand() / line.node_hours() * node_hours : spent;
    line.set_node_hours(line.node_hours() + node_hours);
    line.set_spent(line.spent() + spent);
    line.set_on_demand(line.on_demand() + on_demand);
    cost->set_spent(cost->spent() + spent);
    cost->set_estimated(cost->estimated() + spent);
    cost->set_on_demand(cost->on_demand() + on_demand);
    if (PoolCapacityOf(line.capacity()) == PoolCapacity::kUnpriced) {
      cost->set_unpriced_node_hours(cost->unpriced_node_hours() + node_hours);
    }
    nodes += line.nodes();
  }
  cost->set_node_hours(cost->node_hours() + nodes * hours);
  if (nodes > 0) cost->set_hours(cost->hours() + hours);
  cost->set_until(unix_now);
}

}  // namespace

std::string DescribeBroughtBack(const std::string& why, const std::string& name, bool old_is_gone) {
  return absl::StrCat(
      why, "; `rekindle resume ", name,
      old_is_gone ? "` lets it go on" : " --old-is-gone` where none of its trainers of before runs any more");
}

void PassUnseen(v1::JobRecord* record) {
  record->set_store_generation(record->store_generation() + kUnseenGenerations);
}

v1::JobRecord Revive(const v1::JobFile& file, const Revival& how) {
  v1::JobRecord record = FromJobFile(file);
  record.set_secret(how.secret);
  if (file.over()) return record;
  record.set_store_generation(
      std::max({record.membership().generation(), record.store_generation(), how.store_generation}));
  if (how.old_is_gone) PassUnseen(&record);
  // A job.json does not have the job's members. They report their membership themselves, or are gone.
  record.clear_membership();
  record.set_ended_generation(0);
  // Where the earlier trainers are not known to be gone, those that live go on as they were told.
  if (how.old_is_gone) record.set_want_paused(!how.runs);
  if (how.runs) {
    // What stopped the job before is forgotten. If its budget, for example, must still stop it, it is stopped anew.
    record.clear_budget_stop();
    ForgetRetries(record);
    record.set_released(false);
  }
  if (!how.old_is_gone) record.mutable_recovered()->set_secret_sha256(file.secret_sha256());
  v1::JobStatus* status = record.mutable_job()->mutable_status();
  Estimate(how.unix_now, status->mutable_cost());
  status->set_state(how.runs ? v1::PENDING : v1::PAUSED);
  status->set_reason(how.runs ? kBroughtBack : DescribeBroughtBack(kBroughtBack, record.job().name(), how.old_is_gone));
  record.mutable_decided()->clear_stopped_for();
  record.mutable_decided()->set_brought_back(true);
  return record;
}

}  // namespace rekindle::core
