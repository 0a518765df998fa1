#include "coordinator/core/certainty/generation_lease.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace rekindle::core {
namespace {

// Clocks that nobody sets run at speeds that differ by at most the factor `kClocksDiffer`.
constexpr double kClocksDiffer = 1.01;

// Returns whether a generation of the job could be formed on other nodes than those of its newest membership.
bool IsElsewherePossible(const State& state, const Job& job) {
  std::set<std::string> own;
  for (const v1::Member& member : job.record.membership().members()) own.insert(member.node());
  for (const auto& [name, pool] : state.prices.pools) {
    if (pool.ordered) return true;
  }
  return std::any_of(state.nodes.begin(), state.nodes.end(),
                     [&](const auto& node) { return !node.second.lost && own.count(node.first) == 0; });
}

}  // namespace

void SetLease(const State& state, const Job& job, v1::Membership* next) {
  const Tunables& tunables = state.tunables;
  next->set_lease_save_seconds(tunables.lease_save_seconds);
  next->set_lease_step_seconds(tunables.lease_step_seconds);
  const std::string& lease = SpecOf(job).recovery().lease();
  if (lease == kNoLease || !IsElsewherePossible(state, job)) return;
  double seconds = tunables.lease_seconds;
  if (!lease.empty() && !absl::SimpleAtod(lease, &seconds)) seconds = tunables.lease_seconds;
  next->set_lease_seconds(seconds);
}

double SilenceThatEnds(const v1::Membership& membership) {
  if (membership.lease_seconds() <= 0) return std::numeric_limits<double>::infinity();
  return kClocksDiffer *
         (membership.lease_seconds() + membership.lease_save_seconds() + membership.lease_step_seconds());
}

}  // namespace rekindle::core
