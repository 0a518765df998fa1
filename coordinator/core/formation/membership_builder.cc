#include "coordinator/core/formation/membership_builder.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "common/agreed/agreed_limits.h"
#include "common/digest/hash.h"

namespace rekindle::core {
namespace {

bool IsAtOrigin(const Candidate& candidate, const Origin& origin) {
  return origin.kind == Origin::Kind::kRank && candidate.live && candidate.step == origin.step &&
         candidate.attempt == origin.attempt;
}

// Sorts candidates: survivors come first, in the order of their ranks, then joiners that have the state, then the other
// joiners. Joiners are sorted by name.
void Order(std::vector<Candidate>& pool, const Origin& origin) {
  const auto key = [&](const Candidate& c) {
    const int rank = c.previous_rank < 0 ? std::numeric_limits<int>::max() : c.previous_rank;
    return std::tuple(rank, !IsAtOrigin(c, origin), c.trainer);
  };
  std::sort(pool.begin(), pool.end(), [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
}

}  // namespace

bool HoldTogether(const std::vector<Candidate>& pool, int step) {
  std::vector<std::pair<int, int>> held;
  int total = 0;
  bool any = false;
  for (const Candidate& candidate : pool) {
    if (!candidate.live) continue;
    if (candidate.step == step && candidate.total_blocks == 0) return true;
    any = any || candidate.step == step;
    if (candidate.step != step && !(candidate.prepared && candidate.step + 1 == step)) continue;
    total = std::max(total, candidate.total_blocks);
    held.insert(held.end(), candidate.blocks.begin(), candidate.blocks.end());
  }
  std::sort(held.begin(), held.end());
  int reached = 0;
  for (const auto& [begin, end] : held) {
    if (begin > reached) return false;
    reached = std::max(reached, end);
  }
  return any && reached >= total;
}

const Candidate* FindBest(const std::vector<Candidate>& pool) {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : pool) {
    if (!candidate.live) continue;
    if (best != nullptr && std::tie(candidate.step, candidate.attempt) <= std::tie(best->step, best->attempt)) continue;
    if (HoldTogether(pool, candidate.step)) best = &candidate;
  }
  return best;
}

v1::Membership BuildMembership(std::vector<Candidate> pool, const Origin& origin, bool boundary, int micro_batches,
                               int generation) {
  Order(pool, origin);
  const int most = std::min(micro_batches, common::kMaxWorldSize);
  if (static_cast<int>(pool.size()) > most) pool.resize(most);
  v1::Membership membership;
  membership.set_generation(generation);
  membership.set_step(origin.step);
  membership.set_attempt(origin.attempt);
  membership.set_interrupted(!boundary && origin.kind == Origin::Kind::kRank);

  std::vector<double> seconds;
  for (const Candidate& candidate : pool) seconds.push_back(candidate.holding.seconds);
  seconds = FillUnknownSeconds(std::move(seconds));
  const auto ranges = CutRanges(seconds, micro_batches);
  std::vector<Holding> holdings;
  int source = -1;
  for (size_t i = 0; i < pool.size(); ++i) {
    const bool at_origin = IsAtOrigin(pool[i], origin);
    if (at_origin && source < 0) source = static_cast<int>(i);
    v1::Member* member = membership.add_members();
    member->set_rank(static_cast<int>(i));
    member->set_trainer(pool[i].trainer);
    member->set_node(pool[i].node);
    member->set_address(pool[i].address);
    member->set_host(pool[i].host);
    *member->mutable_process() = pool[i].process;
    member->set_begin(ranges[i].first);
    member->set_end(ranges[i].second);
    member->set_needs_state(!at_origin);
    Holding holding = at_origin ? pool[i].holding : Holding{};
    holding.seconds = seconds[i];
    holdings.push_back(std::move(holding));
  }
  if (membership.interrupted()) {
    MakeDisjoint(holdings, micro_batches);
    const auto adds = DealAdds(holdings, micro_batches);
    for (size_t i = 0; i < pool.size(); ++i) {
      v1::Member* member = membership.mutable_members(static_cast<int>(i));
      member->mutable_holds()->Assign(holdings[i].holds.begin(), holdings[i].holds.end());
      member->mutable_adds()->Assign(adds[i].begin(), adds[i].end());
    }
  }
  switch (origin.kind) {
    case Origin::Kind::kInitial:
      membership.mutable_source()->set_initial(true);
      break;
    case Origin::Kind::kRank:
      membership.mutable_source()->set_rank(source);
      break;
    case Origin::Kind::kCheckpoint:
      membership.mutable_source()->set_checkpoint(origin.manifest);
      break;
  }
  return membership;
}

std::string DigestOf(v1::Membership membership) {
  membership.clear_digest();
  return common::Xxh3_128Hex(membership.SerializeAsString());
}

}  // namespace rekindle::core
