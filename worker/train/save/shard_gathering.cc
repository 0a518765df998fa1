#include "worker/train/save/shard_gathering.h"

#include <iterator>

namespace rekindle::train {
namespace {

// At most `kMostSnapshots` snapshots wait for the lists of other ranks. If there are more, the oldest is given up.
constexpr size_t kMostSnapshots = 4;

}  // namespace

void ShardGathering::Expect(const SnapshotInfo& info, const StateScalars& scalars) {
  if (info.memory_only) {
    std::erase_if(snapshots_, [](const auto& entry) { return entry.second.info.memory_only; });
  }
  snapshots_[scalars.step] = {.info = info, .scalars = ScalarsToJson(scalars), .refs = {}};
  if (snapshots_.size() > kMostSnapshots) snapshots_.erase(snapshots_.begin());
}

std::optional<GatheredManifest> ShardGathering::Add(int generation, const ShardNotes& notes) {
  const auto found = snapshots_.find(notes.step);
  if (found == snapshots_.end()) return std::nullopt;
  Snapshot& snapshot = found->second;
  for (const checkpoint::ShardRef& ref : notes.refs) {
    if (ref.generation == generation) snapshot.refs[{ref.index, ref.plane}] = ref;
  }
  const int planes = checkpoint::PlanesOf(snapshot.info.precision);
  const auto& refs = snapshot.refs;
  if (refs.empty() || static_cast<int>(refs.size()) != refs.begin()->second.count * planes) return std::nullopt;
  GatheredManifest gathered{.manifest = {}, .memory_only = snapshot.info.memory_only};
  checkpoint::Manifest& manifest = gathered.manifest;
  manifest.generation = generation;
  manifest.step = static_cast<int>(notes.step);
  manifest.tensors = tensors_;
  manifest.loss = snapshot.info.loss;
  manifest.validation_loss = snapshot.info.validation_loss;
  manifest.scalars = snapshot.scalars;
  manifest.spec_digest = spec_digest_;
  for (const auto& [key, ref] : refs) manifest.shards.push_back(ref);
  snapshots_.erase(gathered.memory_only ? found : snapshots_.begin(), std::next(found));
  return gathered;
}

}  // namespace rekindle::train
