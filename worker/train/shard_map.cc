#include "worker/train/shard_map.h"

#include <algorithm>

namespace rekindle::train {
namespace {

using checkpoint::kBlockElements;

// Keeps the order; joins what touches or overlaps.
void Append(ElementRange range, ElementSet* set) {
  if (range.begin >= range.end) return;
  if (!set->empty() && set->back().end >= range.begin) {
    set->back().end = std::max(set->back().end, range.end);
  } else {
    set->push_back(range);
  }
}

}  // namespace

ElementSet Union(const ElementSet& a, const ElementSet& b) {
  ElementSet all;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all),
             [](const ElementRange& x, const ElementRange& y) { return x.begin < y.begin; });
  ElementSet joined;
  for (const ElementRange& range : all) Append(range, &joined);
  return joined;
}

ElementSet Intersect(const ElementSet& a, const ElementSet& b) {
  ElementSet both;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    Append({std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)}, &both);
    a[i].end < b[j].end ? ++i : ++j;
  }
  return both;
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

int64_t CountOf(const ElementSet& set) {
  int64_t count = 0;
  for (const ElementRange& range : set) count += range.size();
  return count;
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

ElementSet FromBlocks(const std::vector<int>& blocks, int64_t total) {
  ElementSet set;
  for (size_t i = 0; i + 1 < blocks.size(); i += 2) {
    Append({blocks[i] * kBlockElements, std::min(total, blocks[i + 1] * kBlockElements)}, &set);
  }
  return set;
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
      // The least busy of those that have its first element gives as much as it has from there on.
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
