// Models the checkpoint service and the search for checkpoints, following checkpoint/job/job_checkpoints.cc and
// worker/train/save/checkpoint_search.cc. It also models what may go wrong with a store.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kFirstPause = 0.5;
constexpr double kLongestPause = 15;
constexpr double kRetrySeconds = 0.5;

train::CheckpointName NameOf(const SavedCheckpoint& saved) {
  return {ManifestOf(saved.generation, saved.step), saved.generation, saved.step};
}

// Reports the newest undamaged checkpoint that is not newer than the checkpoint `name`. Without a name all checkpoints
// count. Damaged shards are found only if `verify` is set. Returns an empty string, or what was not found.
std::string LookAt(std::vector<SavedCheckpoint> there, const std::string& name, bool verify, train::Report* report) {
  report->restorable = {};
  report->damaged.clear();
  report->restorable_verified = report->restorable_durable = false;
  std::sort(there.begin(), there.end(), [](const SavedCheckpoint& a, const SavedCheckpoint& b) {
    return std::pair(a.generation, a.step) > std::pair(b.generation, b.step);
  });
  bool reached = name.empty();
  for (const SavedCheckpoint& saved : there) {
    report->store_generation = std::max(report->store_generation, saved.generation);
    reached = reached || ManifestOf(saved.generation, saved.step) == name;
    if (!reached) continue;
    if (saved.damage == Damage::kManifest || (verify && saved.damage == Damage::kShard)) {
      report->damaged.push_back({NameOf(saved), "its hash is wrong"});
      continue;
    }
    report->restorable = NameOf(saved);
    report->restorable_verified = verify;
    report->restorable_durable = true;
    break;
  }
  return reached ? "" : "its manifest is not there";
}

}  // namespace

bool SimCluster::IsAway(const Process& process) const {
  return nodes_.at(process.node).store_away_until > queue_.now();
}

bool SimCluster::CanRead(const Process& process) const {
  return !IsAway(process) && nodes_.at(process.node).unmounted_until <= queue_.now();
}

bool SimCluster::CanRestore(const Process& process, const std::string& manifest) const {
  const auto& store = process.job->store;
  return CanRead(process) && std::any_of(store.begin(), store.end(), [&](const SavedCheckpoint& saved) {
           return ManifestOf(saved.generation, saved.step) == manifest && saved.damage == Damage::kNone;
         });
}

// Returns what the node of the process finds where the store should be.
std::vector<SavedCheckpoint> SimCluster::FoundBy(const Process& process) const {
  const bool empty = nodes_.at(process.node).unmounted_until > queue_.now();
  return empty ? std::vector<SavedCheckpoint>() : process.job->store;
}

// Looks into the job's store. A trainer that cannot do so is not ready, unless its directive says that it need not.
void SimCluster::AwaitStore(Process& process) {
  const bool away = IsAway(process), goes_on = !away || process.directive.without_store();
  Say(process, [&](train::Reporter& r) {
    r.Update(
        [&](train::Report& report) {
          if (away) {
            report.checkpoint_error = "the store does not answer";
          } else {
            LookAt(FoundBy(process), "", false, &report);
            report.checkpoint_error.clear();
          }
          report.store_unseen = away && goes_on;
          if (report.phase == train::Phase::kStarting && goes_on) report.phase = train::Phase::kReady;
        },
        true);
  });
  if (!std::exchange(process.has_started, true)) TrainerLoop(process.id);
  if (!away || process.report.phase() == v1::TRAINER_RUNNING) return;
  AtProcess(process.id, kRetrySeconds, [this](Process& p) {
    const v1::TrainerPhase phase = p.report.phase();
    const bool waits = phase == v1::TRAINER_STARTING || (phase == v1::TRAINER_READY && p.report.store_unseen());
    if (waits) AwaitStore(p);
  });
}

// Looks in the store for the checkpoint that the directive names, at once and then after growing pauses. A process in a
// generation does not look.
void SimCluster::FollowSearch(Process& process) {
  const v1::TrainerReport& report = process.report;
  if (report.phase() == v1::TRAINER_RUNNING || report.phase() == v1::TRAINER_STARTING) return;
  if (process.directive.look() > report.looked()) LookAnew(process);
  const std::string& wanted = process.directive.find_checkpoint();
  const bool verify = process.directive.verify_checkpoint();
  const bool news = process.sought != wanted || process.sought_verified != verify;
  process.sought = wanted;
  process.sought_verified = verify;
  if (wanted.empty()) return;
  if (report.restorable().manifest() == wanted && (report.restorable_verified() || !verify)) return;
  if (news) process.search_at = process.search_pause = 0;
  if (queue_.now() < process.search_at) return;
  process.search_pause = std::clamp(2 * process.search_pause, kFirstPause, kLongestPause);
  process.search_at = queue_.now() + process.search_pause;
  AtProcess(process.id, chance_.Uniform(0.005, verify ? 0.5 : 0.2), [this, wanted, verify](Process& p) {
    if (p.report.phase() != v1::TRAINER_RUNNING) Find(p, wanted, verify);
  });
}

void SimCluster::LookAnew(Process& process) {
  if (queue_.now() < process.look_at) return;
  process.look_at = queue_.now() + kRetrySeconds;
  AtProcess(process.id, chance_.Uniform(0.005, 0.2), [this, look = process.directive.look()](Process& p) {
    if (p.report.phase() == v1::TRAINER_RUNNING) return;
    const bool away = IsAway(p);
    Say(p, [&](train::Reporter& r) {
      r.Update(
          [&](train::Report& report) {
            if (away) {
              report.checkpoint_error = "the store does not answer";
              return;
            }
            LookAt(FoundBy(p), "", false, &report);
            report.checkpoint_error.clear();
            report.looked = look;
          },
          true);
    });
  });
}

void SimCluster::Find(Process& process, const std::string& manifest, bool verify) {
  const bool away = IsAway(process);
  Say(process, [&](train::Reporter& r) {
    r.Update(
        [&](train::Report& report) {
          report.missing_reason =
              away ? "the store does not answer" : LookAt(FoundBy(process), manifest, verify, &report);
          if (away && report.restorable.manifest == manifest) report.restorable = {};
          report.missing_checkpoint = report.missing_reason.empty() ? "" : manifest;
        },
        true);
  });
}

// Breaks something in a store. Often the processes that have the state die soon after, so that the store is needed.
void SimCluster::StoreFault() {
  SimJob& job = AnyJob();
  const double until = queue_.now() + chance_.Uniform(2, 20);
  const int kind = chance_.Pick(4);
  if (kind == 0) {
    tally_.Count(Fault::kStoreFull);
    job.store_full_until = until;
    Note(absl::StrCat("the store of ", job.uid, " takes nothing until ", until));
  } else if (kind == 3) {
    if (!DamageNewest(job)) return;
  } else {
    const bool away = kind == 1, all = chance_.Happens(0.4);
    for (auto& [name, node] : nodes_) {
      if (!all && chance_.Happens(0.5)) continue;
      tally_.Count(away ? Fault::kStoreAway : Fault::kStoreUnmounted);
      (away ? node.store_away_until : node.unmounted_until) = until;
      Note(absl::StrCat(away ? "stores do not answer " : "stores are not mounted on ", name, " until ", until));
    }
  }
  if (chance_.Happens(0.6)) {
    const bool all = chance_.Happens(0.5);
    queue_.At(queue_.now() + chance_.Uniform(0, 3), [this, all] { KillHolders(all); });
  }
}

void SimCluster::KillHolders(bool others_too) {
  tally_.Count(others_too ? Fault::kAllTrainersKilled : Fault::kHoldersKilled);
  Note(others_too ? "all trainers are killed" : "all trainers that have the newest state are killed");
  for (auto& [name, node] : nodes_) {
    for (Process* process : Running(node)) {
      const bool holds = process->report.has_state() && process->report.step() >= process->job->completed;
      if (others_too || holds) StopTrainer(*process, -9, false);
    }
  }
}

// Damages the newest checkpoint if there is an older one that is not damaged. Returns whether it did.
bool SimCluster::DamageNewest(SimJob& job) {
  SavedCheckpoint* newest = nullptr;
  int whole = 0;
  for (SavedCheckpoint& saved : job.store) {
    whole += saved.damage == Damage::kNone;
    if (newest == nullptr || saved.step >= newest->step) newest = &saved;
  }
  if (whole < 2 || newest->damage != Damage::kNone) return false;
  newest->damage = chance_.Happens(0.7) ? Damage::kShard : Damage::kManifest;
  tally_.Count(Fault::kCheckpointDamaged);
  Note(absl::StrCat("checkpoint ", ManifestOf(newest->generation, newest->step), " of ", job.uid, " is damaged"));
  return true;
}

}  // namespace rekindle::core::simulation
