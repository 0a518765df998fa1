#include "tests/simulation/checks/generations/sim_members.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/simulation/coordinator/job_record.h"

namespace rekindle::core::simulation {
namespace {

// A coordinator that was up and decided for `kLongEnded` seconds has heard of each process that ended before, or has
// given up its node.
constexpr double kLongEnded = 15;

}  // namespace

void MembersCheck::JobSaved(const SimJob& job, const v1::JobRecord& before, const v1::JobRecord& now) {
  if (!FormsGeneration(job, before, now)) return;
  CheckAlive(now.membership());
  CheckAlike(now.membership());
  CheckTransport(job, now.membership());
}

void MembersCheck::CheckAlive(const v1::Membership& membership) {
  if (std::max(coordinator_.up_since(), decides_since_) > decided_at_ - kLongEnded) return;
  for (const v1::Member& member : membership.members()) {
    const Process& process = world_.processes.at(member.trainer());
    const bool was_heard = world_.nodes.at(process.node).unheard_until <= decided_at_ - kLongEnded;
    if (process.ended_at > decided_at_ - kLongEnded || !was_heard) continue;
    journal_.Violate(absl::StrCat("generation ", membership.generation(), " has the member ", member.trainer(),
                                  ", which ended ", decided_at_ - process.ended_at, " s before"));
  }
}

void MembersCheck::CheckAlike(const v1::Membership& membership) {
  std::set<std::string> kinds;
  for (const v1::Member& member : membership.members()) {
    const v1::TrainerReport& report = world_.processes.at(member.trainer()).report;
    kinds.insert(absl::StrCat(report.data_fingerprint(), " and ", report.probe_digest()));
  }
  if (kinds.size() > 1) {
    journal_.Violate(absl::StrCat("generation ", membership.generation(), " has members of ", *kinds.begin(),
                                  " beside ", *kinds.rbegin()));
  }
}

void MembersCheck::CheckTransport(const SimJob& job, const v1::Membership& membership) {
  std::set<int> versions;
  bool any_left = false;
  for (const v1::Member& member : membership.members()) {
    const Process& process = world_.processes.at(member.trainer());
    versions.insert(process.report.device().nccl_version());
    any_left = any_left || process.aborts_until > 0;
  }
  const bool can = versions.size() == 1 && *versions.begin() > 0 && membership.members_size() > 1;
  const bool does = membership.transport() == v1::TRANSPORT_NCCL;
  if (does) journal_.Count(Fault::kExchangeByNccl);
  if (does && !can) journal_.Violate(absl::StrCat("generation ", membership.generation(), " cannot exchange by NCCL"));
  if (can && !does && !any_left && job.nccl_hangs_until == 0) {
    journal_.Violate(absl::StrCat("generation ", membership.generation(), " could exchange by NCCL"));
  }
}

}  // namespace rekindle::core::simulation
