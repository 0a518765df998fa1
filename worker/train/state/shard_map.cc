#include "worker/train/state/shard_map.h"

#include <algorithm>
#include <utility>

namespace rekindle::train {
namespace {

using checkpoint::kBlockElements;

// Appends a range that is not before those of `set`. Ranges that touch or overlap are joined.
void Append(ElementRange range, ElementSet* set) {
  if (range.begin >= range.end) return;
  if (!set->empty() && set->back().end >= range.begin) {
    set->back().end = std::max(set->back().end, range.end);
  } else {
    set->push_back(range);
  }
}

}  // namespace

std::vector<ElementRange> PartsOf(const ElementRange& range, int64_t most) {
  std::vector<ElementRange> parts;
  for (int64_t at = range.begin; at < range.end; at += most) parts.push_back({at, std::min(range.end, at + most)});
  return parts;
}

ElementSet Union(const ElementSet& a, const ElementSet& b) {
  ElementSet all;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all),
             [](const ElementRange& x, const ElementRange& y) { return x.begin < y.begin; });
  ElementSet joined;
  for (const ElementRange& range : all) Append(range, &joined);
  return joined;
}

ElementSet Subtract(const ElementSet& a, const ElementSet& b) {
  ElementSet rest;
  size_t j = 0;
  for (ElementRange range : a) {
    while (j < b.size() && b[j].end <= range.begin) ++j;
    for (size_t k = j; k < b.size() && b[k].begin < range.end; ++k) {
      Append({range.begin, b[k].begin}, &rest);
      range.begin = std::max(range.begin, b[k].end);
    }
    Append(range, &rest);
  }
  return rest;
}

int BlocksOf(int64_t total) { return static_cast<int>((total + kBlockElements - 1) / kBlockElements); }

std::vector<int> ToBlocks(const ElementSet& set) {
  std::vector<int> blocks;
  for (const ElementRange& range : set) {
    blocks.push_back(static_cast<int>(range.begin / kBlockElements));
    blocks.push_back(BlocksOf(range.end));
  }
  return blocks;
}

absl::StatusOr<ShardDeal> DealOf(const Membership& membership, int rank, int64_t total) {
  const auto members = static_cast<int>(membership.members.size());
  std::vector<char> is_first(membership.members.size());
  for (const ShardHolders& one : membership.shards) {
    const bool known = one.first >= 0 && one.first < members && one.second >= 0 && one.second < members;
    if (!known || std::exchange(is_first[static_cast<size_t>(one.first)], 1) != 0) {
      return absl::FailedPreconditionError("the membership deals out the optimizer's shards in no possible way");
    }
  }
  if (membership.shards.empty()) {
    return absl::FailedPreconditionError(
        "the membership says nothing of the optimizer's shards; install the same release on every node");
  }
  ShardDeal deal{
      .rank = rank, .holders = membership.shards, .shards = CutState(total, membership.shards), .wanted = {}};
  deal.wanted = HeldBy(deal.shards, rank);
  return deal;
}

std::vector<checkpoint::ShardRange> FilesOf(int64_t total, const std::vector<ShardHolders>& holders) {
  auto files = checkpoint::CutShards(total, static_cast<int>(holders.size()));
  for (checkpoint::ShardRange& file : files) file.owner = holders[static_cast<size_t>(file.owner)].first;
  return files;
}

std::vector<StateShard> CutState(int64_t total, const std::vector<ShardHolders>& holders) {
  std::vector<StateShard> shards;
  for (const ShardHolders& one : holders) shards.push_back({.range = {}, .first = one.first, .second = one.second});
  for (const auto& file : checkpoint::CutShards(total, static_cast<int>(holders.size()))) {
    ElementRange& range = shards[static_cast<size_t>(file.owner)].range;
    if (range.size() == 0) range.begin = file.begin;
    range.end = file.end;
  }
  return shards;
}

ElementSet HeldBy(const std::vector<StateShard>& shards, int rank) {
  ElementSet held;
  for (const StateShard& shard : shards) {
    if (shard.first == rank || shard.second == rank) Append(shard.range, &held);
  }
  return held;
}

bool PlanMoves(const std::vector<ElementSet>& has, const std::vector<ElementSet>& wants, std::vector<Move>* moves) {
  std::vector<int64_t> sends(has.size());
  for (size_t to = 0; to < wants.size(); ++to) {
    ElementSet missing = Subtract(wants[to], has[to]);
    while (!missing.empty()) {
      // The first missing element comes from the rank that sends least so far among those that have it. That rank also
      // sends the missing elements that follow without a gap, as far as it has them.
      const int64_t at = missing.front().begin;
      Move move;
      bool found = false;
      for (size_t from = 0; from < has.size(); ++from) {
        for (const ElementRange& range : has[from]) {
          const bool has_it = range.begin <= at && at < range.end;
          if (!has_it || (found && sends[from] >= sends[static_cast<size_t>(move.from)])) continue;
          move = {{at, std::min(range.end, missing.front().end)}, static_cast<int>(from), static_cast<int>(to)};
          found = true;
        }
      }
      if (!found) return false;
      moves->push_back(move);
      sends[static_cast<size_t>(move.from)] += move.range.size();
      missing = Subtract(missing, {move.range});
    }
  }
  return true;
}

}  // namespace rekindle::train
