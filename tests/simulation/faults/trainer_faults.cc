#include "tests/simulation/faults/trainer_faults.h"

#include "absl/strings/str_cat.h"
#include "common/agreed/exit_codes.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kLongestFreeze = 40;
// A process is frozen for a shorter time than a coordinator with records of a copy listens.
constexpr double kBelowListening = 7;
constexpr double kLongestBroken = 20;
constexpr double kLongestHang = 30;
// Some exchanges hang for longer than a schedule lasts.
constexpr double kForEver = 1e6;

}  // namespace

void TrainerFaults::Kill(Process& process) {
  world_.journal.Count(Fault::kTrainerKilled);
  supervisor_.Stop(process, -9, false);
}

void TrainerFaults::Freeze(Process& process) {
  if (process.frozen_until >= world_.now()) return;
  world_.journal.Count(Fault::kTrainerFrozen);
  process.frozen_until =
      world_.now() + world_.chance.Uniform(0.1, world_.options.copies > 0 ? kBelowListening : kLongestFreeze);
  world_.journal.Note(absl::StrCat("trainer ", process.id, " is frozen until ", process.frozen_until));
}

void TrainerFaults::KillHolders(bool others_too) {
  world_.journal.Count(others_too ? Fault::kAllTrainersKilled : Fault::kHoldersKilled);
  world_.journal.Note(others_too ? "all trainers are killed" : "all trainers that have the newest state are killed");
  for (auto& [name, node] : world_.nodes) {
    for (Process* process : world_.Running(node)) {
      const bool holds = process->report.has_state() && process->report.step() >= process->job->completed;
      if (others_too || holds) supervisor_.Stop(*process, -9, false);
    }
  }
}

void TrainerFaults::FailGpu(SimNode& node) {
  const int slot = world_.chance.Pick(static_cast<int>(node.slots.size()));
  SimSlot& place = node.slots[slot];
  if (place.broken_until > world_.now()) return;
  place.broken_until = world_.now() + world_.chance.Uniform(0.5, kLongestBroken);
  // The driver may find nothing wrong with a GPU that no trainer can use.
  place.driver_knows = world_.chance.Happens(0.5);
  world_.journal.Note(
      absl::StrCat("the GPU of slot ", slot, " of ", node.name, " is broken until ", place.broken_until));
  world_.journal.Count(Fault::kGpuFailed);
  if (!place.process.empty()) supervisor_.Stop(world_.processes[place.process], common::kExitDeviceGone, false);
}

void TrainerFaults::HangNccl() {
  SimJob& job = world_.AnyJob();
  job.nccl_hangs_until =
      world_.now() + (world_.chance.Happens(0.3) ? kForEver : world_.chance.Uniform(1, kLongestHang));
  world_.journal.Note(absl::StrCat("NCCL hangs in ", job.options.name, " until ", job.nccl_hangs_until));
}

}  // namespace rekindle::core::simulation
