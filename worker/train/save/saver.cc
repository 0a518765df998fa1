#include "worker/train/save/saver.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/log/log.h"
#include "worker/train/levers/optimizer_kind.h"
#include "worker/train/save/blocking_save.h"

namespace rekindle::train {
namespace {

// Before rank 0 leaves, it waits at most `kEndDrainSeconds` for a save under way and `kEndAskSeconds` for the last job
// file, and writes that file to each store within `kEndWriteSeconds`. With two stores this takes less than the ten
// seconds that an agent gives its trainer to stop.
constexpr double kEndDrainSeconds = 1, kEndAskSeconds = 2, kEndWriteSeconds = 3;

}  // namespace

Saver::Saver(SaverOptions options, SaverParts parts)
    : parts_(std::move(parts)),
      schedule_(parts_.spec.checkpoint),
      scratch_(parts_.device.IsHost() || parts_.checkpoints == nullptr ? nullptr
                                                                       : std::make_unique<PlaneScratch>(parts_.device)),
      final_store_(parts_.device, parts_.open_store, OptionsOf(options)) {
  if (parts_.checkpoints == nullptr) return;
  checkpointer_ = std::make_unique<Checkpointer>(parts_.device, *parts_.checkpoints, OptionsOf(std::move(options)));
}

CheckpointerOptions Saver::OptionsOf(SaverOptions options) {
  CheckpointerOptions of_each{.spec_digest = std::move(options.spec_digest),
                              .retention = options.retention,
                              .tensors = {},
                              .job_file = [this] { return parts_.control.JobFileNow(); },
                              .scratch = scratch_.get(),
                              .changed = [this](const CheckpointStatus& status) { TellStatus(status); }};
  for (const ParameterInfo& parameter : parts_.layout.parameters) {
    of_each.tensors.push_back({parameter.name, parameter.shape});
  }
  return of_each;
}

void Saver::Enter(int generation, int rank) {
  generation_ = generation;
  rank_ = rank;
  if (checkpointer_) checkpointer_->Enter(generation);
}

void Saver::Join(const Membership& membership, int64_t step) {
  std::set<std::string> nodes;
  for (const Member& member : membership.members) nodes.insert(member.node);
  const double now = parts_.clock();
  schedule_.Joined(now, {static_cast<int>(nodes.size()), membership.interruptions, membership.node_hours});
  if (membership.source != Membership::Source::kRank) schedule_.Restarted(now, step);
  Follow();
  FitScratch(static_cast<int>(membership.members.size()));
}

absl::Status Saver::Allocate() {
  if (!scratch_) return absl::OkStatus();
  // The longest shard of a rank that is alone is as long as any shard of several ranks.
  const std::vector<checkpoint::ShardRange> shards = checkpoint::CutShards(parts_.layout.total, 1);
  const auto length = [](const checkpoint::ShardRange& shard) { return shard.end - shard.begin; };
  return Fit({*std::ranges::max_element(shards, {}, length)}, parts_.spec.checkpoint.precision);
}

absl::Status Saver::Fit(const std::vector<checkpoint::ShardRange>& shards, checkpoint::Precision precision) {
  return scratch_->Fit(shards, precision, static_cast<size_t>(FindOptimizer(parts_.spec.optimizer.kind)->moments));
}

// Allocates what this rank's part of a snapshot needs on the device. The part depends on the number of ranks.
void Saver::FitScratch(int world_size) {
  if (!scratch_) return;
  const SnapshotInfo info = SnapshotOf(world_size);
  const absl::Status fits = Fit(info.ranges, info.precision);
  if (fits.ok()) return;
  log::Warning("no checkpoint can be saved while the device has no room for it",
               {{"error", std::string(fits.message())}});
}

absl::Status Saver::CheckNotRefused() const {
  if (!checkpointer_) return absl::OkStatus();
  const CheckpointStatus status = checkpointer_->Status();
  if (status.refused_generation != generation_) return absl::OkStatus();
  return absl::AbortedError("the job's store knows of a newer generation: " + status.error);
}

double Saver::WaitCopied() {
  if (!checkpointer_) return 0;
  const double stalled = checkpointer_->WaitCopied();
  schedule_.Stalled(stalled);
  return stalled;
}

void Saver::Announce(int64_t step, double step_seconds, int world_size, StepExtras* extras) {
  extras->most_shards = MostShards(world_size);
  extras->committed_step = committed_step_;
  if (!checkpointer_) return;
  const CheckpointName committed = checkpointer_->Status().committed;
  if (!committed.manifest.empty()) extras->committed_step = std::max(extras->committed_step, committed.step);
  ShardNotes notes = checkpointer_->TakeNotes();
  extras->checkpoint_step = notes.step;
  extras->shards = std::move(notes.refs);
  extras->begin_checkpoint = rank_ == 0 && schedule_.Due(parts_.clock(), step + 1, step_seconds);
}

void Saver::Gather(std::span<const StepMessage> messages) {
  if (!checkpointer_ || rank_ != 0) return;
  for (const StepMessage& message : messages) {
    checkpointer_->Collect(generation_, {message.checkpoint_step, message.shards});
  }
}

bool Saver::StepDone(const StepOutcome& outcome, double seconds, bool usual, const TrainState& state) {
  schedule_.StepDone(seconds, usual);
  loss_ = outcome.record.MeanLoss();
  if (outcome.evaluation.micro_batches > 0) Evaluated(outcome.evaluation.MeanLoss());
  committed_step_ = std::max(committed_step_, outcome.committed_step);
  Follow();
  const int64_t step = state.scalars.step;
  if (!checkpointer_ || step >= parts_.spec.steps) return false;
  // The generation ends with this step, so nobody would gather the shards of a save that begins now.
  if (outcome.yield) return false;
  const bool begins = outcome.begin_checkpoint;
  const int64_t memory_every = parts_.spec.checkpoint.memory_every_steps;
  if (!begins && (memory_every == 0 || step % memory_every != 0)) return false;
  SnapshotInfo info = SnapshotOf(static_cast<int>(outcome.messages.size()));
  info.memory_only = !begins;
  if (begins) schedule_.Begun(parts_.clock(), step);
  checkpointer_->Begin(info, state);
  return begins;
}

// Tells the checkpoint schedule which saves have failed and which are durable.
void Saver::Follow() {
  if (!checkpointer_) return;
  const double now = parts_.clock();
  const CheckpointStatus status = checkpointer_->Status();
  if (status.failed > std::exchange(failed_, status.failed)) schedule_.Failed(now);
  if (!status.committed.manifest.empty()) committed_step_ = std::max(committed_step_, status.committed.step);
  schedule_.Durable(now, committed_step_);
  if (rank_ == 0) TellInterval();
}

void Saver::TellInterval() {
  if (schedule_.reason() == parts_.reporter.Snapshot().checkpoint_interval_reason) return;
  log::Info("checkpoint interval", {{"seconds", schedule_.interval_seconds()}, {"reason", schedule_.reason()}});
  parts_.reporter.Update(
      [&](Report& r) {
        r.checkpoint_interval_seconds = schedule_.interval_seconds();
        r.checkpoint_interval_reason = schedule_.reason();
      },
      false);
}

void Saver::TellStatus(const CheckpointStatus& status) {
  parts_.reporter.Update(
      [&](Report& r) {
        r.committed = status.committed;
        r.checkpoint_error = status.error;
        r.checkpoints_failed = status.failed;
      },
      true);
}

// Returns the largest number of files that one rank writes for a checkpoint. A rank writes one file for each of its
// ranges and each plane (a 16-bit part of the values).
int Saver::MostShards(int world_size) const {
  if (!checkpointer_) return 0;
  std::map<int, int> owned;
  int most = 0;
  for (const auto& range : parts_.placement.Files(world_size)) most = std::max(most, ++owned[range.owner]);
  return most * checkpoint::kMaxPlanes;
}

SnapshotInfo Saver::SnapshotOf(int world_size) const {
  return {.generation = generation_,
          .ranges = checkpoint::ShardsOf(parts_.placement.Files(world_size), rank_),
          .precision = parts_.spec.checkpoint.precision,
          .loss = loss_,
          .validation_loss = validation_loss_};
}

absl::Status Saver::SaveNow(comm::Communicator& communicator, const TrainState& state, double until) {
  if (!checkpointer_) return absl::OkStatus();
  communicator.SetDeadlines({.progress_seconds = kStoreSeconds});
  return Save(*checkpointer_, communicator, state, until, /*is_final=*/false);
}

bool Saver::SavesFinal() const {
  return checkpointer_ != nullptr && parts_.spec.checkpoint.kind != CheckpointSpec::Kind::kNever;
}

absl::Status Saver::SaveFinal(comm::Communicator& communicator, const TrainState& state, double until,
                              const std::string& store) {
  communicator.SetDeadlines({.progress_seconds = kStoreSeconds});
  if (store.empty()) return Save(*checkpointer_, communicator, state, until, /*is_final=*/true);
  // All ranks open the same store for the final state, so either all of them can use it or none.
  const absl::StatusOr<Checkpointer*> checkpointer = final_store_.Use(store);
  if (!checkpointer.ok()) {
    log::Warning("cannot use the store", {{"store", store}, {"error", std::string(checkpointer.status().message())}});
    parts_.reporter.Update([&](Report& r) { r.checkpoint_error = std::string(checkpointer.status().message()); }, true);
    return absl::OkStatus();
  }
  (*checkpointer)->Enter(generation_);
  return Save(**checkpointer, communicator, state, until, /*is_final=*/true);
}

absl::Status Saver::Save(Checkpointer& checkpointer, comm::Communicator& communicator, const TrainState& state,
                         double until, bool is_final) {
  const int world_size = communicator.world_size();
  BlockingSave save(
      {.checkpointer = checkpointer,
       .communicator = communicator,
       .reporter = parts_.reporter,
       .directives = parts_.control.directives(),
       .clock = parts_.clock,
       .stopping = parts_.stopping},
      {.exact = parts_.spec.exact, .most_shards = MostShards(world_size), .until = until, .is_final = is_final});
  return save.Run(SnapshotOf(world_size), state);
}

void Saver::KeepEnd() {
  if (!checkpointer_ || rank_ != 0) return;
  // The commit of a checkpoint also writes a job file. A commit that is still under way would replace the last job file
  // with an older one.
  checkpointer_->Drain(kEndDrainSeconds);
  const std::string text = parts_.control.JobFileOfEnd(kEndAskSeconds);
  if (text.empty()) return;
  for (checkpoint::CheckpointClient* client : {parts_.checkpoints, final_store_.client()}) {
    if (client == nullptr) continue;
    const absl::Status written = client->WriteJobFile(generation_, text, kEndWriteSeconds);
    if (written.ok()) continue;
    log::Warning("the job's store does not know that it is over", {{"error", std::string(written.message())}});
  }
}

}  // namespace rekindle::train
