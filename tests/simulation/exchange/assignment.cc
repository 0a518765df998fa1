#include "tests/simulation/exchange/assignment.h"

#include <iterator>
#include <vector>

namespace rekindle::core::simulation {

std::set<int> AssignedTo(const Process& process, int step) {
  const v1::Membership& membership = FabricOf(process).membership;
  const v1::Member& member = *FindMember(membership, process.id);
  std::set<int> assigned;
  if (step >= process.job->options.steps) return assigned;
  if (membership.interrupted() && step == membership.step()) {
    assigned.insert(member.holds().begin(), member.holds().end());
    assigned.insert(member.adds().begin(), member.adds().end());
  } else {
    int begin = member.begin(), end = member.end();
    const auto& cuts = FabricOf(process).cuts;
    if (auto cut = cuts.upper_bound(step); cut != cuts.begin()) {
      const std::vector<int>& ends = std::prev(cut)->second;
      begin = member.rank() == 0 ? 0 : ends[member.rank() - 1];
      end = ends[member.rank()];
    }
    for (int i = begin; i < end; ++i) assigned.insert(i);
  }
  return assigned;
}

void MaybeRecut(World& world, const SimJob& job, Fabric& fabric, int step) {
  if (!world.chance.Happens(0.2)) return;
  const int ranks = fabric.membership.members_size();
  std::set<int> ends = {job.options.micro_batches};
  while (static_cast<int>(ends.size()) < ranks) {
    ends.insert(1 + static_cast<int>(world.chance.Uniform(0, job.options.micro_batches - 1)));
  }
  fabric.cuts[step + 1] = {ends.begin(), ends.end()};
}

}  // namespace rekindle::core::simulation
