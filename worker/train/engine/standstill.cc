#include "worker/train/engine/standstill.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/log/log.h"

namespace rekindle::train {
namespace {

// Ranks that stand still ask each other every `kAskSeconds` whether they may go on.
constexpr double kAskSeconds = 1;

// Waits until the lease of some rank holds again, and returns OK then.
absl::Status AwaitAnyLease(const Membership& membership, comm::Communicator& communicator,
                           const GenerationParts& parts) {
  const Lease& lease = parts.control.lease();
  const DirectiveBox& directives = parts.control.directives();
  std::vector<uint8_t> all(static_cast<size_t>(communicator.world_size()));
  for (;;) {
    const int64_t version = directives.Version();
    const double sent = lease.Now();
    const uint8_t mine = lease.Holds(membership.generation);
    if (absl::Status told = communicator.AllGather(&mine, all.data(), 1).Wait(); !told.ok()) return told;
    if (std::find(all.begin(), all.end(), 1) != all.end()) return CheckFresh(lease, membership, sent);
    if (parts.stopping()) return absl::AbortedError("this trainer was told to stop");
    directives.WaitForChange(version, kAskSeconds);
  }
}

}  // namespace

absl::Status CheckFresh(const Lease& lease, const Membership& membership, double sent) {
  if (lease.Holds(membership.generation) || lease.Now() - sent <= membership.lease_step_seconds) {
    return absl::OkStatus();
  }
  return absl::AbortedError("this process did not run for a while, and another generation may have begun meanwhile");
}

absl::Status StandStill(const Membership& membership, comm::Communicator& communicator, const GenerationParts& parts) {
  parts.teller.Stands({membership.generation, parts.state.scalars.step, communicator.world_size()},
                      membership.lease_seconds, parts.control.lease().MaySpend());
  parts.reporter.Stand(true);
  absl::Status status = parts.saver.SaveNow(communicator, parts.state, parts.clock() + membership.lease_save_seconds);
  if (!status.ok()) return status;
  communicator.SetDeadlines({.progress_seconds = parts.speed.StepDeadline()});
  parts.teller.Works(false);
  if (status = AwaitAnyLease(membership, communicator, parts); !status.ok()) return status;
  log::Info("the coordinator is back: goes on");
  parts.teller.Works(true);
  parts.reporter.Stand(false);
  return absl::OkStatus();
}

}  // namespace rekindle::train
