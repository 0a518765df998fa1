#include "tests/simulation/checks/generations/memberships.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checks/generations/partition.h"
#include "tests/simulation/coordinator/job_record.h"

namespace rekindle::core::simulation {

void MembershipCheck::JobSaved(const SimJob& job, const v1::JobRecord& before, const v1::JobRecord& now) {
  if (TakesOver(job, before, now)) return journal_.Count(Fault::kMembershipTakenOver);
  const v1::Membership& membership = now.membership();
  if (membership.generation() == before.membership().generation()) {
    if (membership.SerializeAsString() != before.membership().SerializeAsString()) {
      journal_.Violate(absl::StrCat("generation ", membership.generation(), " was changed after it was saved"));
    }
    return;
  }
  if (membership.generation() < before.membership().generation()) journal_.Violate("a generation went back");
  if (membership.members_size() == 0) return journal_.Violate("a generation without members");
  CheckWork(job, membership);
  if (membership.source().has_rank() && membership.members(membership.source().rank()).needs_state()) {
    journal_.Violate("the source needs state itself");
  }
  journal_.Note(absl::StrCat("generation ", membership.generation(), " step ", membership.step(), " source ",
                             membership.source().ShortDebugString(), ": ", membership.reason()));
}

void MembershipCheck::CheckWork(const SimJob& job, const v1::Membership& membership) {
  std::vector<std::set<int>> ranges, work;
  for (const v1::Member& member : membership.members()) {
    ranges.emplace_back();
    work.emplace_back();
    for (int i = member.begin(); i < member.end(); ++i) ranges.back().insert(i);
    if (ranges.back().empty()) journal_.Violate(absl::StrCat("rank ", member.rank(), " has no micro-batch"));
    for (int i : member.holds()) work.back().insert(i);
    for (int i : member.adds()) {
      if (!work.back().insert(i).second) journal_.Violate("a micro-batch is both held and added");
    }
  }
  // A generation that only saves the final state computes nothing, and may have more members than micro-batches.
  const int divided = membership.finishing() ? std::max(job.options.micro_batches, membership.members_size())
                                             : job.options.micro_batches;
  std::string gap = FindGap(ranges, divided);
  if (gap.empty() && membership.interrupted()) gap = FindGap(work, job.options.micro_batches);
  if (!gap.empty()) journal_.Violate(absl::StrCat("generation ", membership.generation(), ": ", gap));
}

}  // namespace rekindle::core::simulation
