#include "tests/simulation/trainers/sim_store_search.h"

#include <algorithm>
#include <utility>

#include "tests/simulation/trainers/store_view.h"

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

void StoreSearch::AwaitStore(Process& process, const std::function<void()>& looked) {
  const bool away = IsAway(world_, process), goes_on = !away || process.directive.without_store();
  voice_.Say(process, [&](train::Reporter& r) {
    r.Update(
        [&](train::Report& report) {
          if (away) {
            report.checkpoint_error = "the store does not answer";
          } else {
            LookAt(FoundBy(world_, process), "", false, &report);
            report.checkpoint_error.clear();
          }
          report.store_unseen = away && goes_on;
          if (report.phase == train::Phase::kStarting && goes_on) report.phase = train::Phase::kReady;
        },
        true);
  });
  looked();
  if (!away || process.report.phase() == v1::TRAINER_RUNNING) return;
  world_.AtProcess(process.id, kRetrySeconds, [this](Process& p) {
    const v1::TrainerPhase phase = p.report.phase();
    const bool waits = phase == v1::TRAINER_STARTING || (phase == v1::TRAINER_READY && p.report.store_unseen());
    if (waits) AwaitStore(p, [] {});
  });
}

void StoreSearch::Follow(Process& process) {
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
  if (world_.now() < process.search_at) return;
  process.search_pause = std::clamp(2 * process.search_pause, kFirstPause, kLongestPause);
  process.search_at = world_.now() + process.search_pause;
  world_.AtProcess(process.id, world_.chance.Uniform(0.005, verify ? 0.5 : 0.2), [this, wanted, verify](Process& p) {
    if (p.report.phase() != v1::TRAINER_RUNNING) Find(p, wanted, verify);
  });
}

void StoreSearch::LookAnew(Process& process) {
  if (world_.now() < process.look_at) return;
  process.look_at = world_.now() + kRetrySeconds;
  world_.AtProcess(process.id, world_.chance.Uniform(0.005, 0.2), [this, look = process.directive.look()](Process& p) {
    if (p.report.phase() == v1::TRAINER_RUNNING) return;
    const bool away = IsAway(world_, p);
    voice_.Say(p, [&](train::Reporter& r) {
      r.Update(
          [&](train::Report& report) {
            if (away) {
              report.checkpoint_error = "the store does not answer";
              return;
            }
            LookAt(FoundBy(world_, p), "", false, &report);
            report.checkpoint_error.clear();
            report.looked = look;
          },
          true);
    });
  });
}

void StoreSearch::Find(Process& process, const std::string& manifest, bool verify) {
  const bool away = IsAway(world_, process);
  voice_.Say(process, [&](train::Reporter& r) {
    r.Update(
        [&](train::Report& report) {
          report.missing_reason =
              away ? "the store does not answer" : LookAt(FoundBy(world_, process), manifest, verify, &report);
          if (away && report.restorable.manifest == manifest) report.restorable = {};
          report.missing_checkpoint = report.missing_reason.empty() ? "" : manifest;
        },
        true);
  });
}

}  // namespace rekindle::core::simulation
