#include "coordinator/core/generation/restore_point.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "coordinator/core/members/candidates.h"
#include "coordinator/core/members/durable.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {
namespace {

const v1::TrainerReport& ReportOf(const Job& job, const Candidate& candidate) {
  return FindTrainer(job, candidate.trainer)->report;
}

// Returns whether a member was to restore the checkpoint `manifest`, failed, and does not see it any more.
bool IsSpoiled(const Job& job, const std::vector<Candidate>& pool, const std::string& manifest) {
  if (job.record.membership().source().checkpoint() != manifest) return false;
  return std::any_of(pool.begin(), pool.end(), [&](const Candidate& candidate) {
    const v1::TrainerReport& report = ReportOf(job, candidate);
    return report.phase() == v1::TRAINER_INTERRUPTED && !report.has_state() &&
           report.generation() == job.record.membership().generation() && report.restorable().manifest() != manifest;
  });
}

// Returns the checkpoint that the job should restore: of those that candidates have found and the durable one, the one
// of the highest step. A checkpoint may be found that lies only in the memory of nodes. One that some candidate reports
// as missing does not count.
v1::Checkpointed Wanted(const Job& job, const std::vector<Candidate>& pool) {
  v1::Checkpointed wanted = job.record.checkpoint();
  for (const Candidate& candidate : pool) {
    const v1::Checkpointed& found = ReportOf(job, candidate).restorable();
    if (!IsUsable(job, found) || (!wanted.manifest().empty() && found.step() <= wanted.step())) continue;
    const bool vanished = std::any_of(pool.begin(), pool.end(), [&](const Candidate& other) {
      return ReportOf(job, other).missing_checkpoint() == found.manifest();
    });
    if (!vanished && !IsSpoiled(job, pool, found.manifest())) wanted = found;
  }
  return wanted;
}

// Found collects what each candidate says of one checkpoint.
struct Found {
  // `whole` are the candidates that found the checkpoint whole, at least by the sizes of its files.
  std::vector<Candidate> whole;
  // `unverified` are those among `whole` that have not read every byte of the checkpoint.
  std::vector<Candidate> unverified;
  // `damaged` and `missing` hold a sentence for each candidate that found the checkpoint damaged or missing.
  std::vector<std::string> damaged;
  std::vector<std::string> missing;
  // `looking` says that some candidates have not answered yet.
  bool looking = false;
};

std::string NameAndReason(const Candidate& candidate, const std::string& reason) {
  return absl::StrCat(ShortName(candidate.trainer), ": ", Bounded(reason, 200));
}

Found Survey(const Job& job, const std::vector<Candidate>& pool, const std::string& manifest) {
  Found found;
  for (const Candidate& candidate : pool) {
    const v1::TrainerReport& report = ReportOf(job, candidate);
    const auto damaged = std::find_if(report.damaged().begin(), report.damaged().end(),
                                      [&](const auto& one) { return one.checkpoint().manifest() == manifest; });
    if (report.restorable().manifest() == manifest) {
      found.whole.push_back(candidate);
      if (!report.restorable_verified()) found.unverified.push_back(candidate);
    } else if (damaged != report.damaged().end()) {
      found.damaged.push_back(NameAndReason(candidate, damaged->reason()));
    } else if (report.missing_checkpoint() == manifest) {
      found.missing.push_back(NameAndReason(candidate, report.missing_reason()));
    } else {
      found.looking = true;
    }
  }
  return found;
}

// Returns the checkpoint of the highest step, below the damaged one, that a candidate has read to the last byte.
std::optional<v1::Checkpointed> NextOlder(const Job& job, const std::vector<Candidate>& pool) {
  std::optional<v1::Checkpointed> older;
  for (const Candidate& candidate : pool) {
    const v1::TrainerReport& report = ReportOf(job, candidate);
    if (!report.restorable_verified() || !report.restorable_durable()) continue;
    if (!IsUsable(job, report.restorable()) || report.restorable().step() > DurableStep(job)) continue;
    if (!older || report.restorable().step() > older->step()) older = report.restorable();
  }
  return older;
}

std::string HowToGoOnWithout(const Job& job) {
  return absl::StrCat("`rekindle resume ", job.record.job().name(), " --from CHECKPOINT` or `--from ", kScratch,
                      "` goes on without it");
}

std::string Describe(const v1::Checkpointed& checkpoint) {
  return absl::StrCat("checkpoint ", checkpoint.manifest(), " of step ", checkpoint.step());
}

void TellOnce(Turn& turn, Job& job, const std::string& kind, const v1::Checkpointed& checkpoint,
              const std::string& why) {
  if (std::exchange(job.regroup.forming.told_missing, checkpoint.manifest()) != checkpoint.manifest())
    turn.Emit(&job, kind, why);
}

// Describes why the job waits while too few candidates can restore the checkpoint `wanted`.
RestorePoint WaitFor(Turn& turn, Job& job, const v1::Checkpointed& wanted, const Found& found) {
  const std::string& store = SpecOf(job).checkpoint().store();
  RestorePoint point;
  if (!found.missing.empty()) {
    point.waits_for = absl::StrCat(Describe(wanted), " cannot be read from ", store, ": ", JoinWords(found.missing),
                                   "; is it mounted? The job looks again and again, and ", HowToGoOnWithout(job));
    TellOnce(turn, job, "checkpoint_missing", wanted, point.waits_for);
  } else if (found.looking || found.damaged.empty()) {
    point.waits_for = absl::StrCat("looks for ", Describe(wanted), " in ", store);
  } else {
    point.waits_for =
        absl::StrCat(Describe(wanted), " is damaged (", JoinWords(found.damaged), "), ",
                     found.whole.empty() ? "and no older one was found whole" : "and too few workers read all of it",
                     "; ", HowToGoOnWithout(job));
    TellOnce(turn, job, "checkpoint_missing", wanted, point.waits_for);
  }
  return point;
}

// Returns whether enough machines have read wrong bytes in the checkpoint to prove that it is damaged. One machine
// alone may read wrongly. At least as many workers as the job needs must have read the checkpoint. Other workers get a
// minute to read it, too, unless the workers in all of the job's slots have read it already.
bool AllHaveRead(Turn& turn, Job& job, const std::vector<Candidate>& pool) {
  constexpr double kPatienceSeconds = 60;
  const auto there = static_cast<int>(pool.size());
  if (there < MinWorkers(job)) return false;
  if (job.regroup.forming.damaged_since == kNever) job.regroup.forming.damaged_since = turn.now;
  if (there > 1 && there >= DesiredWorkers(turn.state, job)) return true;
  const double until = job.regroup.forming.damaged_since + kPatienceSeconds;
  if (turn.now < until) turn.Wake(job, until);
  return turn.now >= until;
}

RestorePoint From(const Job& job, Origin origin, const std::vector<Candidate>& pool) {
  RestorePoint point{.waits_for = "", .origin = std::move(origin), .pool = {}};
  Fill(point.pool, pool, MaxWorkers(job));
  return point;
}

}  // namespace

RestorePoint ChooseRestorePoint(Turn& turn, Job& job, const std::vector<Candidate>& pool) {
  v1::Checkpointed wanted = Wanted(job, pool);
  const bool seen =
      job.record.store_generation() > 0 && job.record.store_generation() >= std::max(1, job.record.line_generation());
  job.regroup.forming.find = wanted.manifest();
  job.regroup.forming.verify = false;
  if (wanted.manifest().empty()) {
    RestorePoint start = From(job, Origin(), pool);
    if (seen) {
      start.waits_for =
          absl::StrCat("the store ", SpecOf(job).checkpoint().store(), " has had checkpoints of generation ",
                       job.record.store_generation(), ", and none that can be used; ", HowToGoOnWithout(job));
    }
    return start;
  }
  Found found = Survey(job, pool, wanted.manifest());
  job.regroup.forming.verify = !found.damaged.empty();
  if (found.damaged.empty()) found.unverified.clear();
  if (!found.unverified.empty()) {
    return {.waits_for =
                absl::StrCat("reads every byte of ", Describe(wanted), ", damaged for ", JoinWords(found.damaged))};
  }
  const bool is_durable = wanted.manifest() == job.record.checkpoint().manifest();
  if (found.whole.empty() && found.missing.empty() && !found.looking && !found.damaged.empty() && is_durable) {
    const auto older = NextOlder(job, pool);
    if (older && !AllHaveRead(turn, job, pool)) {
      return {.waits_for = absl::StrCat(Describe(wanted), " is damaged (", JoinWords(found.damaged),
                                        "); the job's other workers have yet to read it")};
    }
    if (older) {
      GiveUpDamaged(turn, job, *older, Bounded(JoinWords(found.damaged)));
      job.regroup.forming.damaged_since = kNever;
      return ChooseRestorePoint(turn, job, pool);
    }
  }
  if (found.whole.empty()) return WaitFor(turn, job, wanted, found);
  // The next generation waits a moment for candidates that still look for the checkpoint. Those that do not find it in
  // that time join the job later, and then get the state from its members.
  const double until = job.regroup.ready_since + turn.state.tunables.formation_seconds;
  if (found.looking && turn.now < until) {
    turn.Wake(job, until);
    return {.waits_for = absl::StrCat("looks for ", Describe(wanted))};
  }
  if (static_cast<int>(found.whole.size()) < MinWorkers(job)) return WaitFor(turn, job, wanted, found);
  return From(job, {Origin::Kind::kCheckpoint, wanted.step(), 0, wanted.manifest(), ""}, found.whole);
}

}  // namespace rekindle::core
