#include "tests/simulation/trainers/store_view.h"

#include <algorithm>

namespace rekindle::core::simulation {

bool IsAway(const World& world, const Process& process) {
  return world.nodes.at(process.node).store_away_until > world.now();
}

bool CanRead(const World& world, const Process& process) {
  return !IsAway(world, process) && world.nodes.at(process.node).unmounted_until <= world.now();
}

bool CanRestore(const World& world, const Process& process, const std::string& manifest) {
  const auto& store = process.job->store;
  return CanRead(world, process) && std::any_of(store.begin(), store.end(), [&](const SavedCheckpoint& saved) {
           return ManifestOf(saved.generation, saved.step) == manifest && saved.damage == Damage::kNone;
         });
}

std::vector<SavedCheckpoint> FoundBy(const World& world, const Process& process) {
  const bool empty = world.nodes.at(process.node).unmounted_until > world.now();
  return empty ? std::vector<SavedCheckpoint>() : process.job->store;
}

}  // namespace rekindle::core::simulation
