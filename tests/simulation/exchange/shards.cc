#include "tests/simulation/exchange/shards.h"

#include <vector>

namespace rekindle::core::simulation {
namespace {

constexpr int kBlocks = 12;

std::vector<bool> BlocksIn(const v1::TrainerReport& report) {
  std::vector<bool> blocks(kBlocks);
  for (int i = 0; i + 1 < report.held_blocks_size(); i += 2) {
    for (int b = report.held_blocks(i); b < report.held_blocks(i + 1); ++b) blocks[b] = true;
  }
  return blocks;
}

// Returns the blocks of optimizer state as the ranges that a report contains.
std::vector<int> RangesOf(const std::vector<bool>& blocks) {
  std::vector<int> ranges;
  for (int b = 0; b < kBlocks; ++b) {
    if (!blocks[b]) continue;
    if (b == 0 || !blocks[b - 1]) ranges.push_back(b);
    if (b + 1 == kBlocks || !blocks[b + 1]) ranges.push_back(b + 1);
  }
  return ranges;
}

std::vector<bool> Wanted(const v1::Membership& membership, const std::string& id) {
  std::vector<bool> blocks(kBlocks);
  for (int i = 0; i < membership.shards_size(); ++i) {
    for (const int rank : {membership.shards(i).first(), membership.shards(i).second()}) {
      if (membership.members(rank).trainer() != id) continue;
      for (int b = kBlocks * i / membership.shards_size(); b < kBlocks * (i + 1) / membership.shards_size(); ++b) {
        blocks[b] = true;
      }
    }
  }
  return blocks;
}

bool Reaches(const v1::TrainerReport& report, int step) {
  return report.has_state() && (report.step() == step || (report.prepared() && report.step() + 1 == step));
}

}  // namespace

bool AreThere(const std::map<std::string, Process>& processes, const std::set<std::string>& ids, int step) {
  std::vector<bool> there(kBlocks);
  bool whole = false;
  for (const std::string& id : ids) {
    const v1::TrainerReport& report = processes.at(id).report;
    if (!Reaches(report, step)) continue;
    whole = whole || report.step() == step;
    const std::vector<bool> blocks = BlocksIn(report);
    for (int b = 0; b < kBlocks; ++b) there[b] = there[b] || blocks[b];
  }
  for (const bool block : there) whole = whole && block;
  return whole;
}

void Shards::Take(Process& process, int step) {
  if (!process.job->options.sharded) return;
  std::vector<bool> blocks = Wanted(FabricOf(process).membership, process.id);
  if (Reaches(process.report, step)) {
    const std::vector<bool> before = BlocksIn(process.report);
    for (int b = 0; b < kBlocks; ++b) blocks[b] = blocks[b] || before[b];
  }
  voice_.Say(process, [&](train::Reporter& r) { r.Hold(RangesOf(blocks), kBlocks); });
}

void Shards::Release(Process& process) {
  const std::vector<bool> wanted = Wanted(FabricOf(process).membership, process.id);
  voice_.Say(process, [&](train::Reporter& r) { r.Hold(RangesOf(wanted), kBlocks); });
}

}  // namespace rekindle::core::simulation
