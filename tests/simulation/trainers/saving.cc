#include "tests/simulation/trainers/saving.h"

#include <string>

#include "tests/simulation/trainers/store_view.h"

namespace rekindle::core::simulation {

void Saving::Begin(Process& process, int generation, int step) {
  world_.AtProcess(process.id, world_.chance.Uniform(0.05, 0.5),
                   [this, generation, step](Process& p) { Commit(p, generation, step); });
}

void Saving::Commit(Process& process, int generation, int step) {
  train::CheckpointName name;
  std::string error;
  if (!CanRead(world_, process) || process.job->store_full_until > world_.now()) {
    error = "the store takes nothing";
    world_.journal.Count(Fault::kSaveFailed);
  } else {
    process.job->store.push_back({generation, step});
    if (world_.options.copies > 0) process.job->lost.stored = process.job->lost.told;
    name = {ManifestOf(generation, step), generation, step};
  }
  voice_.Say(process, [&](train::Reporter& r) {
    r.Update(
        [&](train::Report& report) {
          report.checkpoint_error = error;
          report.checkpoints_failed += error.empty() ? 0 : 1;
          if (error.empty()) report.committed = name;
        },
        true);
  });
}

}  // namespace rekindle::core::simulation
