#include "checkpoint/job/collector.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "checkpoint/job/generation_marks.h"
#include "checkpoint/job/job_checkpoints.h"
#include "checkpoint/job/pins.h"

namespace rekindle::checkpoint {
namespace {

std::vector<Candidate> CandidatesOf(const std::vector<StoredCheckpoint>& all) {
  std::vector<Candidate> candidates;
  for (const StoredCheckpoint& checkpoint : all) {
    // The step of a checkpoint is taken from its name, because the manifest may be unreadable.
    const auto name = ParseName(checkpoint.name);
    candidates.push_back({.name = checkpoint.name,
                          .step = name.ok() ? name->step : 0,
                          .written = checkpoint.written,
                          .whole = checkpoint.problem.empty(),
                          .validation_loss = checkpoint.manifest.validation_loss});
  }
  return candidates;
}

// Returns an error if a newer release wrote the manifest of a checkpoint that stays. It is not known which shards such
// a manifest names, so a collection could remove them.
absl::Status CheckKnown(const std::vector<StoredCheckpoint>& staying) {
  for (const StoredCheckpoint& checkpoint : staying) {
    if (!checkpoint.of_newer_release) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("nothing was removed, as it may need it: ", checkpoint.name, ": ", checkpoint.problem));
  }
  return absl::OkStatus();
}

// Returns the name of the newest whole checkpoint, or "" if none is whole.
std::string NewestWhole(const std::vector<StoredCheckpoint>& all) {
  const auto newest = std::find_if(all.begin(), all.end(), [](const auto& one) { return one.problem.empty(); });
  return newest == all.end() ? "" : newest->name;
}

}  // namespace

absl::StatusOr<Collected> Collector::Collect(const Retention& retention, double now, const Options& options) {
  if (absl::Status status = CheckRetention(retention); !status.ok()) return status;
  GenerationMarks marks(folder_);
  const auto check_generation = [&] {
    return options.generation > 0 ? marks.Check(options.generation) : absl::OkStatus();
  };
  if (absl::Status status = check_generation(); !status.ok()) return status;
  if (absl::Status status = options.dry_run ? absl::OkStatus() : RecoverSweep(folder_); !status.ok()) return status;
  const auto all = JobCheckpoints(folder_).List();
  if (!all.ok()) return all.status();
  if (absl::Status status = CheckKnown(*all); !status.ok()) return status;
  const auto pinned = Pins(folder_).Names();
  if (!pinned.ok()) return pinned.status();
  Sweep::Plan plan{.verdicts = Decide(CandidatesOf(*all), retention, *pinned, now)};
  for (size_t i = 0; i < all->size(); ++i) {
    Fate fate = plan.verdicts[i].fate;
    if (fate == Fate::kArchive) {
      const absl::StatusOr<bool> there = options.is_archived ? options.is_archived((*all)[i].manifest) : false;
      if (!there.ok()) return there.status();
      if (!*there) fate = Fate::kKeep;
    }
    (fate == Fate::kKeep ? plan.keep : plan.drop).push_back((*all)[i]);
  }
  // The generation is checked again before anything is removed, because a newer one may have begun while the store was
  // read.
  if (absl::Status status = check_generation(); !status.ok()) return status;
  auto done = Sweep(folder_, {now, grace_seconds_, options.dry_run}, std::move(plan)).Run();
  if (!done.ok()) return done;
  if (absl::Status status = options.dry_run ? absl::OkStatus() : marks.ForgetOld(); !status.ok()) return status;
  return done;
}

absl::StatusOr<Collected> Collector::Remove(const std::vector<std::string>& names, bool force, double now) {
  if (absl::Status status = RecoverSweep(folder_); !status.ok()) return status;
  const auto all = JobCheckpoints(folder_).List();
  if (!all.ok()) return all.status();
  Pins pins(folder_);
  const auto pinned = pins.Names();
  if (!pinned.ok()) return pinned.status();
  std::set<std::string> wanted(names.begin(), names.end());
  Sweep::Plan plan;
  const std::string newest = NewestWhole(*all);
  for (const StoredCheckpoint& checkpoint : *all) {
    const bool goes = wanted.erase(checkpoint.name) > 0;
    if (goes && !force && pinned->contains(checkpoint.name)) {
      return absl::FailedPreconditionError(checkpoint.name + " is pinned: unpin it first, or remove it by force");
    }
    if (goes && !force && checkpoint.name == newest) {
      return absl::FailedPreconditionError(checkpoint.name + " is the newest whole checkpoint: what a restore takes. " +
                                           "Remove it by force if that is what you want");
    }
    (goes ? plan.drop : plan.keep).push_back(checkpoint);
    plan.verdicts.push_back({checkpoint.name, goes ? Fate::kRemove : Fate::kKeep, goes ? "was named" : ""});
  }
  if (!wanted.empty()) return absl::NotFoundError(*wanted.begin() + " is not in the store");
  if (absl::Status status = CheckKnown(plan.keep); !status.ok()) return status;
  for (const StoredCheckpoint& checkpoint : plan.drop) {
    if (!pinned->contains(checkpoint.name)) continue;
    if (absl::Status status = pins.Remove(checkpoint.name); !status.ok()) return status;
  }
  return Sweep(folder_, {.now = now, .grace_seconds = grace_seconds_}, std::move(plan)).Run();
}

}  // namespace rekindle::checkpoint
