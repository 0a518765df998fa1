#include "worker/train/restore/checkpoint_search.h"
#include "common/agreed/agreed_limits.h"

#include <algorithm>
#include <utility>

#include "checkpoint/format/manifest.h"
#include "common/log/log.h"

namespace rekindle::train {
namespace {

constexpr double kFirstPauseSeconds = 0.5;
// The pause after a look into the store doubles with each look, up to `kLongestPauseSeconds`. It is counted from the
// end of the look, however long the look took.
constexpr double kLongestPauseSeconds = 15;

CheckpointName NameFrom(const std::string& text) {
  const auto parsed = checkpoint::ParseName(text);
  return parsed.ok() ? CheckpointName{text, parsed->generation, parsed->step} : CheckpointName{};
}

// Returns whether reading the job file again would only give the same error.
bool SaysNothing(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsDataLoss(status) || absl::IsFailedPrecondition(status) ||
         absl::IsUnimplemented(status);
}

}  // namespace

CheckpointSearch::CheckpointSearch(checkpoint::CheckpointClient& store, Reporter& reporter, common::TimeSource clock)
    : store_(store), reporter_(reporter), clock_(std::move(clock)) {}

absl::Status CheckpointSearch::FindNewest() {
  const auto found = store_.FindNewest(/*verify=*/false);
  if (found.ok()) {
    Tell(*found, /*verified=*/false);
    return absl::OkStatus();
  }
  log::Warning("waits for the checkpoint store", {{"error", std::string(found.status().message())}});
  reporter_.Update([&](Report& r) { r.checkpoint_error = std::string(found.status().message()); }, true);
  return found.status();
}

void CheckpointSearch::Find(const std::string& name, bool verify) {
  const auto found = store_.FindNamed(name, verify);
  const std::string missing = found.ok() ? found->missing : std::string(found.status().message());
  if (found.ok()) Tell(*found, verify);
  if (found.ok() && !missing.empty()) TellLaterThan(name);
  if (!missing.empty()) log::Warning("checkpoint missing", {{"checkpoint", name}, {"reason", missing}});
  reporter_.Update(
      [&](Report& r) {
        r.missing_checkpoint = missing.empty() ? "" : name;
        r.missing_reason = missing;
        if (!missing.empty() && r.restorable.manifest == name) r.restorable = {};
      },
      true);
}

void CheckpointSearch::TellLaterThan(const std::string& name) {
  const auto newest = store_.FindNewest(/*verify=*/false);
  if (newest.ok() && newest->found && newest->manifest.step > NameFrom(name).step) Tell(*newest, /*verified=*/false);
}

void CheckpointSearch::Pause(Pace* pace) const {
  pace->pause = std::clamp(2 * pace->pause, kFirstPauseSeconds, kLongestPauseSeconds);
  pace->next = clock_() + pace->pause;
}

void CheckpointSearch::Follow(const Directive& directive) {
  LookAnew(directive.look);
  FindTold(directive);
}

void CheckpointSearch::LookAnew(int64_t look) {
  const Report told = reporter_.Snapshot();
  if (look == 0 && !told.stored_job_file.empty()) {
    reporter_.Update([](Report& r) { r.stored_job_file.clear(); }, false);
  }
  if (look <= told.looked) return;
  if (std::exchange(look_, look) != look) look_pace_ = {};
  if (!IsDue(look_pace_)) return;
  if (!FindNewest().ok()) return Pause(&look_pace_);
  const absl::StatusOr<std::string> job_file = store_.ReadJobFile();
  if (!job_file.ok() && !SaysNothing(job_file.status())) return Pause(&look_pace_);
  reporter_.Update(
      [&](Report& r) {
        r.looked = look;
        r.stored_job_file = job_file.value_or("");
      },
      true);
}

void CheckpointSearch::FindTold(const Directive& directive) {
  const bool news = directive.find_checkpoint != name_ || directive.verify_checkpoint != verify_;
  name_ = directive.find_checkpoint;
  verify_ = directive.verify_checkpoint;
  if (name_.empty()) return;
  const Report told = reporter_.Snapshot();
  if (told.restorable.manifest == name_ && (told.restorable_verified || !verify_)) return;
  if (news) pace_ = {};
  if (!IsDue(pace_)) return;
  Find(name_, verify_);
  Pause(&pace_);
}

void CheckpointSearch::Tell(const checkpoint::SearchResult& found, bool verified) {
  for (const std::string& skipped : found.skipped) log::Warning("checkpoint skipped", {{"checkpoint", skipped}});
  reporter_.Update(
      [&](Report& r) {
        r.checkpoint_error.clear();
        r.store_unseen = false;
        r.store_generation = std::max(r.store_generation, found.highest_generation);
        r.skipped_checkpoints = found.skipped;
        r.restorable =
            found.found ? CheckpointName{found.name, found.manifest.generation, found.manifest.step} : CheckpointName{};
        r.restorable_verified = found.found && verified;
        r.restorable_durable = found.found && found.durable;
        r.damaged.clear();
        for (const checkpoint::SkippedCheckpoint& damaged : found.damaged) {
          if (r.damaged.size() < common::kMostDamaged) r.damaged.push_back({NameFrom(damaged.name), damaged.reason});
        }
      },
      false);
}

}  // namespace rekindle::train
