#include "coordinator/core/members/shard_holders.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "common/spec/spec_words.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

// Returns how independently two places fail: 0 on one node, 2 in different zones, otherwise 1.
int Apart(const Place& a, const Place& b) {
  if (a.node == b.node) return 0;
  return !a.zone.empty() && !b.zone.empty() && a.zone != b.zone ? 2 : 1;
}

}  // namespace

std::vector<std::pair<int, int>> PairHolders(const std::vector<Place>& places) {
  std::vector<int> keepers;
  for (size_t i = 0; i < places.size(); ++i) {
    if (!places[i].leaving) keepers.push_back(static_cast<int>(i));
  }
  if (keepers.empty()) {
    for (size_t i = 0; i < places.size(); ++i) keepers.push_back(static_cast<int>(i));
  }
  const auto count = static_cast<int>(keepers.size());
  std::vector<int> burden(places.size());
  std::vector<std::pair<int, int>> holders;
  for (int i = 0; i < count; ++i) {
    const int first = keepers[i];
    int second = first;
    auto best = std::tuple(-1, 0);
    // The search begins with the member after the first holder, so that the duty of a second holder is spread over all
    // members.
    for (int away = 1; away < count; ++away) {
      const int other = keepers[(i + away) % count];
      const auto merit = std::tuple(Apart(places[first], places[other]), -burden[other]);
      if (merit <= best) continue;
      best = merit;
      second = other;
    }
    if (second != first) ++burden[second];
    holders.emplace_back(first, second);
  }
  return holders;
}

void AssignShards(const State& state, const Job& job, v1::Membership* membership) {
  const std::string& optimizer_state = SpecOf(job).training().optimizer_state();
  if (common::OptimizerStateOf(optimizer_state) != common::OptimizerState::kSharded) return;
  std::vector<Place> places;
  for (const v1::Member& member : membership->members()) {
    const auto node = state.nodes.find(member.node());
    places.push_back({member.node(), node == state.nodes.end() ? "" : node->second.report.zone(),
                      MustLeave(state, job, member.trainer())});
  }
  for (const auto& [first, second] : PairHolders(places)) {
    v1::ShardHolders* shard = membership->add_shards();
    shard->set_first(first);
    shard->set_second(second);
  }
}

std::string DescribeLost(const Job& job, const std::vector<Candidate>& pool) {
  const bool any = std::any_of(pool.begin(), pool.end(), [](const Candidate& c) { return c.live; });
  if (!any || FindBest(pool) != nullptr) return "";
  const v1::Membership& membership = job.record.membership();
  const auto is_here = [&](int rank) {
    const std::string& trainer = membership.members(rank).trainer();
    return std::any_of(pool.begin(), pool.end(), [&](const Candidate& c) { return c.live && c.trainer == trainer; });
  };
  for (int i = 0; i < membership.shards_size(); ++i) {
    const v1::ShardHolders& shard = membership.shards(i);
    if (is_here(shard.first()) || is_here(shard.second())) continue;
    const std::string who = ShortName(membership.members(shard.first()).trainer());
    if (shard.first() == shard.second())
      return absl::StrCat("the only holder of optimizer shard ", i, ", ", who, ", is gone");
    return absl::StrCat("both holders of optimizer shard ", i, ", ", who, " and ",
                        ShortName(membership.members(shard.second()).trainer()), ", are gone");
  }
  return "the live trainers do not have all of the optimizer's shards of one step";
}

}  // namespace rekindle::core
