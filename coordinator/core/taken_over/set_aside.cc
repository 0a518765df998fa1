#include "coordinator/core/taken_over/set_aside.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "coordinator/core/generation/membership_flaws.h"
#include "coordinator/core/members/members.h"
#include "coordinator/core/taken_over/recovered.h"

namespace rekindle::core {
namespace {

bool IsSum(double number) { return std::isfinite(number) && number >= 0; }

std::string FindFlawInSpec(const v1::JobSpec::Training& training) {
  if (training.steps() < 1) return "its spec has no steps";
  if (training.global_batch() < 1) return "its spec has no batch";
  const int micro_batch = training.micro_batch();
  if (micro_batch < 0 || (micro_batch > 0 && training.global_batch() % micro_batch != 0)) {
    return "its micro-batch does not divide its batch";
  }
  return "";
}

bool AreSums(const v1::Cost& cost) {
  const bool lines = std::all_of(cost.pools().begin(), cost.pools().end(), [](const v1::PoolCost& line) {
    return IsSum(line.spent()) && IsSum(line.node_hours()) && IsSum(line.on_demand()) && IsSum(line.nodes());
  });
  return lines && IsSum(cost.spent()) && IsSum(cost.on_demand()) && IsSum(cost.node_hours()) && IsSum(cost.hours()) &&
         IsSum(cost.until()) && IsSum(cost.budget()) && IsSum(cost.unheard()) && IsSum(cost.estimated());
}

}  // namespace

std::string FindFlawInRecord(const Job& job) {
  const v1::JobRecord& record = job.record;
  const v1::Membership& membership = record.membership();
  if (std::string flaw = FindFlawInSpec(SpecOf(job).training()); !flaw.empty()) return flaw;
  if (membership.generation() < 0 || record.ended_generation() > membership.generation()) {
    return "its newest generation is none";
  }
  // Releases before 0.2 wrote no digest. Without it nobody can tell whether they left a part of a membership out or
  // whether the part was lost, so such a membership is not checked.
  if (membership.members_size() > 0 && !membership.digest().empty()) {
    if (const std::string flaw = FindFlawIn(membership, job); !flaw.empty()) {
      return absl::StrCat("in its newest membership, ", flaw);
    }
  }
  const v1::JobStatus& status = record.job().status();
  if (status.step() < 0 || status.step() > SpecOf(job).training().steps()) return "its step is none of the job's";
  return AreSums(status.cost()) ? "" : "what it has spent is no number, and is counted from 0 on";
}

void SetAside(Turn& turn, Job& job, const std::string& flaw) {
  v1::JobRecord& record = job.record;
  const int newest = std::max({record.membership().generation(), record.ended_generation(), record.store_generation()});
  record.set_store_generation(std::max(0, newest));
  record.clear_membership();
  record.clear_deaths();
  // `finishing` says which members hold the final state. The members are not known any more, so the job goes on from
  // what its store has.
  record.clear_finishing();
  record.set_ended_generation(0);
  record.mutable_recovered()->set_flaw(flaw);
  record.set_want_paused(true);
  v1::JobStatus* status = record.mutable_job()->mutable_status();
  status->set_step(std::clamp(status->step(), 0, std::max(0, SpecOf(job).training().steps())));
  status->clear_finishing();
  if (!AreSums(status->cost())) status->clear_cost();
  ShowAwaitedOld(turn, job);
  turn.Emit(&job, "set_aside", absl::StrCat("job ", record.job().name(), " is ", status->reason()));
  turn.Save(job);
}

absl::Status CheckSetAside(const Job& job) {
  if (job.record.recovered().flaw().empty()) return absl::OkStatus();
  const std::string flaw = FindFlawInRecord(job);
  if (flaw.empty()) return absl::OkStatus();
  const std::string& name = job.record.job().name();
  return absl::FailedPreconditionError(
      absl::StrCat("job ", name, " is set aside: ", flaw, ", so that no step can be made; `rekindle cancel ", name,
                   "` and submit it anew, or bring an older copy of the records back with `rekindle restore`"));
}

}  // namespace rekindle::core
