// Models a sharded optimizer state, following worker/train/state/{placement,moment_transfer}.cc.
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/simulation/sim_cluster.h"

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

// Returns whether the processes together have every block of the optimizer state of `step`, and at least one of them
// has all weights of that step.
bool SimCluster::AreThere(const std::set<std::string>& processes, int step) const {
  std::vector<bool> there(kBlocks);
  bool whole = false;
  for (const std::string& id : processes) {
    const v1::TrainerReport& report = processes_.at(id).report;
    if (!Reaches(report, step)) continue;
    whole = whole || report.step() == step;
    const std::vector<bool> blocks = BlocksIn(report);
    for (int b = 0; b < kBlocks; ++b) there[b] = there[b] || blocks[b];
  }
  for (const bool block : there) whole = whole && block;
  return whole;
}

// Lets the process hold the blocks that its generation wants it to hold. If it has blocks of `step` already, it keeps
// them, because other ranks may need them until all ranks have theirs.
void SimCluster::TakeShards(Process& process, int step) {
  if (!process.job->options.sharded) return;
  std::vector<bool> blocks = Wanted(FabricOf(process).membership, process.id);
  if (Reaches(process.report, step)) {
    const std::vector<bool> before = BlocksIn(process.report);
    for (int b = 0; b < kBlocks; ++b) blocks[b] = blocks[b] || before[b];
  }
  Say(process, [&](train::Reporter& r) { r.Hold(RangesOf(blocks), kBlocks); });
}

void SimCluster::ReleaseShards(Process& process) {
  const std::vector<bool> wanted = Wanted(FabricOf(process).membership, process.id);
  Say(process, [&](train::Reporter& r) { r.Hold(RangesOf(wanted), kBlocks); });
}

}  // namespace rekindle::core::simulation
