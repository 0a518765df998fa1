// The engine without word from the coordinator: it stops at a step boundary before anybody could go on elsewhere.
#include <algorithm>
#include <vector>

#include "common/log.h"
#include "worker/train/engine.h"

namespace rekindle::train {
namespace {

constexpr double kAskSeconds = 1;  // How often ranks that stand still tell each other whether they may go on.

}  // namespace

// All ranks know the same answers, so they stop, or go on, at the same boundary. A rank that did not run since, in a
// machine that was asleep, finds that they are too old.
absl::Status Engine::AwaitLease(Generation& generation, const StepOutcome& outcome) {
  return outcome.lease_holds ? CheckFresh(generation, outcome.sent) : StandStill(generation);
}

absl::Status Engine::CheckFresh(const Generation& generation, double sent) const {
  const Lease& lease = parts_.control.lease();
  if (lease.Holds(generation_) || lease.Now() - sent <= generation.membership.lease_step_seconds) {
    return absl::OkStatus();
  }
  return absl::AbortedError("this process did not run for a while, and another generation may have begun meanwhile");
}

// Collective.
absl::Status Engine::StandStill(Generation& generation) {
  const Membership& membership = generation.membership;
  comm::Communicator& communicator = generation.communicator;
  const bool may_spend = parts_.control.lease().MaySpend();
  log::Warning(
      may_spend ? "nothing was heard of the coordinator: all ranks stand still until it is back"
                : "the job may spend no more without word of the coordinator: all ranks stand still until it is back",
      {{"lease_seconds", membership.lease_seconds}, {"step", static_cast<long long>(state_.scalars.step)}});
  reporter_.Stand(true);
  parts_.timeline.Mark("standing", generation_, state_.scalars.step, communicator.world_size());
  if (checkpointer_) {
    communicator.SetDeadlines({.progress_seconds = kStoreSeconds});
    flush_until_ = parts_.clock() + membership.lease_save_seconds;
    absl::Status saved = CheckpointNow(generation);
    flush_until_ = 0;
    if (!saved.ok()) return saved;
    communicator.SetDeadlines({.progress_seconds = StepDeadline()});
  }
  SetWorks(false);
  const Lease& lease = parts_.control.lease();
  std::vector<uint8_t> all(static_cast<size_t>(communicator.world_size()));
  for (;;) {
    const int64_t version = parts_.control.Version();
    const double sent = lease.Now();
    const uint8_t mine = lease.Holds(generation_);
    if (absl::Status told = communicator.AllGather(&mine, all.data(), 1).Wait(); !told.ok()) return told;
    if (std::find(all.begin(), all.end(), 1) != all.end()) {
      if (absl::Status fresh = CheckFresh(generation, sent); !fresh.ok()) return fresh;
      break;
    }
    if (stopping_) return absl::AbortedError("this trainer was told to stop");
    parts_.control.WaitForChange(version, kAskSeconds);
  }
  log::Info("the coordinator is back: goes on");
  SetWorks(true);
  reporter_.Stand(false);
  return absl::OkStatus();
}

}  // namespace rekindle::train
