#include "tests/simulation/checks/generations/reductions.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checks/generations/partition.h"

namespace rekindle::core::simulation {

void ReductionCheck::StepReduced(const SimJob& job, const Fabric& fabric, int step) {
  CheckSum(job, fabric, step);
  Age& newest = stepped_[job.uid].newest;
  newest = std::max(newest, AgeOf(fabric.membership));
}

void ReductionCheck::CheckSum(const SimJob& job, const Fabric& fabric, int step) {
  const int generation = fabric.membership.generation();
  const Age newest = stepped_[job.uid].newest;
  if (step < job.options.steps && AgeOf(fabric.membership) < newest) {
    return journal_.Violate(absl::StrCat("generation ", generation, " steps although ", newest.second, " has stepped"));
  }
  std::vector<std::set<int>> work;
  for (const auto& [id, contribution] : fabric.contributed) {
    work.push_back(contribution.second);
    if (contribution.first != step) {
      journal_.Violate(absl::StrCat(id, " gives to step ", contribution.first, " while others are at ", step));
    }
  }
  const std::string gap = step < job.options.steps ? FindGap(work, job.options.micro_batches) : "";
  if (!gap.empty()) journal_.Violate(absl::StrCat("step ", step, " of generation ", generation, ": ", gap));
}

void ReductionCheck::StepApplied(const Process& process, int generation, int step) {
  const SimJob& job = *process.job;
  Stepped& stepped = stepped_[job.uid];
  if (AgeOf(job.fabrics.at(generation).membership) >= stepped.newest) return;
  if (stepped.late.insert(absl::StrCat(process.id, " ", generation)).second) return;
  journal_.Violate(absl::StrCat(process.id, " applies step ", step, " of generation ", generation, " although ",
                                stepped.newest.second, " has stepped, and it was not in that one then"));
}

}  // namespace rekindle::core::simulation
