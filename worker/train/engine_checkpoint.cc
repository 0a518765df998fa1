// The engine's dealings with checkpoints, and what it tells of them and of its steps.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "common/clock.h"
#include "common/log.h"
#include "worker/train/engine.h"

namespace rekindle::train {

// Files, of all planes, that one rank writes.
int Engine::MostShards(int world_size) const {
  if (!checkpointer_) return 0;
  std::map<int, int> owned;
  int most = 0;
  for (const auto& range : placement_->Files(world_size)) most = std::max(most, ++owned[range.owner]);
  return most * checkpoint::kMaxPlanes;
}

std::vector<checkpoint::ShardRange> Engine::OwnFiles(const Generation& generation) const {
  return checkpoint::ShardsOf(placement_->Files(generation.communicator.world_size()), generation.rank);
}

StepExtras Engine::ExtrasFor(const Generation& generation) {
  StepExtras extras;
  const Directive directive = parts_.control.Latest();
  extras.yield = directive.action == Directive::Action::kYield && directive.membership.generation <= generation_;
  extras.yield_with_checkpoint = extras.yield && directive.checkpoint;
  if (extras.yield_with_checkpoint && directive.checkpoint_until > 0 && flush_until_ == 0) {
    flush_until_ = parts_.clock() + directive.checkpoint_until - common::SteadySeconds();
  }
  extras.most_shards = MostShards(generation.communicator.world_size());
  extras.range = generation.ranges.of(generation.rank);
  extras.lease = &parts_.control.lease();
  extras.committed_step = committed_step_;
  if (checkpointer_) {
    const CheckpointName committed = checkpointer_->Status().committed;
    if (!committed.manifest.empty()) extras.committed_step = std::max(extras.committed_step, committed.step);
    ShardNotes notes = checkpointer_->TakeNotes();
    extras.checkpoint_step = notes.step;
    extras.shards = std::move(notes.refs);
    const int64_t next = state_.scalars.step + 1;
    extras.begin_checkpoint = generation.rank == 0 && schedule_.Due(parts_.clock(), next, times_.step_seconds());
  }
  return extras;
}

void Engine::JoinSchedule(const Generation& generation) {
  const Membership& membership = generation.membership;
  std::set<std::string> nodes;
  for (const Member& member : membership.members) nodes.insert(member.node);
  const double now = parts_.clock();
  schedule_.Joined(now, {static_cast<int>(nodes.size()), membership.interruptions, membership.node_hours});
  if (membership.source != Membership::Source::kRank) schedule_.Restarted(now, state_.scalars.step);
  FollowCheckpoints(generation);
}

// Every rank's schedule learns what became of the saves: any of them may be rank 0 next.
void Engine::FollowCheckpoints(const Generation& generation) {
  if (!checkpointer_) return;
  const double now = parts_.clock();
  const CheckpointStatus status = checkpointer_->Status();
  if (status.failed > std::exchange(checkpoints_failed_, status.failed)) schedule_.Failed(now);
  if (!status.committed.manifest.empty()) committed_step_ = std::max(committed_step_, status.committed.step);
  schedule_.Durable(now, committed_step_);
  if (generation.rank != 0 || schedule_.reason() == reporter_.Snapshot().checkpoint_interval_reason) return;
  log::Info("checkpoint interval", {{"seconds", schedule_.interval_seconds()}, {"reason", schedule_.reason()}});
  reporter_.Update(
      [&](Report& r) {
        r.checkpoint_interval_seconds = schedule_.interval_seconds();
        r.checkpoint_interval_reason = schedule_.reason();
      },
      false);
}

// Rank 0 announced it in this step's message, so that every rank saves the same step whatever its clock says.
void Engine::BeginCheckpointIfDecided(const Generation& generation, const StepOutcome& outcome) {
  const int64_t step = state_.scalars.step;
  if (!checkpointer_ || !outcome.begin_checkpoint || step >= options_.spec.steps) return;
  if (outcome.yield) return;  // The generation ends here: nobody would gather the shards.
  schedule_.Begun(parts_.clock(), step);
  parts_.timeline.Mark("checkpoint", generation_, step, generation.communicator.world_size());
  checkpointer_->Begin(SnapshotOf(generation), state_);
}

SnapshotInfo Engine::SnapshotOf(const Generation& generation) const {
  return {.generation = generation_,
          .ranges = OwnFiles(generation),
          .precision = options_.spec.checkpoint.precision,
          .loss = loss_,
          .validation_loss = validation_loss_};
}

void Engine::TellStep(const StepOutcome& outcome, double seconds) {
  times_.AddStep(seconds);
  const double loss = outcome.record.MeanLoss();
  loss_ = loss;
  const auto tokens = static_cast<double>(outcome.record.tokens);
  const int64_t step = state_.scalars.step;
  if (outcome.evaluation.micro_batches > 0) TellEvaluation(outcome.evaluation);
  parts_.control.AddLoss({step, loss});
  reporter_.Update(
      [&](Report& r) {
        r.completed_step = step - 1;  // The exchange showed that everyone had applied the step before.
        r.loss = loss;
        r.learning_rate = learning_rate_;
        r.loss_scale = std::ldexp(1.0, state_.scalars.loss_scale.log2);
        r.skipped_steps = state_.scalars.loss_scale.skipped;
        r.micro_batch_seconds = micro_batch_seconds_;
        r.step_seconds = times_.step_seconds();
        r.step_seconds_p99 = times_.step_seconds_p99();
        r.tokens_per_second = times_.step_seconds() > 0 ? tokens / times_.step_seconds() : 0;
      },
      false);
  parts_.metrics.Update([&](TrainerMetrics& m) {
    m.steps += 1;
    m.tokens += tokens;
    m.step_seconds = times_.step_seconds();
  });
}

void Engine::TellEvaluation(const StepRecord& evaluation) {
  if (evaluation.micro_batches == 0) return;
  validation_loss_ = evaluation.MeanLoss();
  reporter_.Update([&](Report& r) { r.validation = {evaluation.step, evaluation.MeanLoss()}; }, false);
}

CheckpointerOptions Engine::CheckpointerOptionsOf() {
  CheckpointerOptions options{.spec_digest = options_.spec_digest,
                              .retention = options_.retention,
                              .tensors = {},
                              .job_file = [this] { return parts_.control.JobFileNow(); },
                              .changed = [this](const CheckpointStatus& status) { TellCheckpoints(status); }};
  for (const ParameterInfo& parameter : parts_.model.layout().parameters) {
    options.tensors.push_back({parameter.name, parameter.shape});
  }
  return options;
}

void Engine::TellCheckpoints(const CheckpointStatus& status) {
  reporter_.Update(
      [&](Report& r) {
        r.committed = status.committed;
        r.checkpoint_error = status.error;
        r.checkpoints_failed = status.failed;
      },
      true);
}

}  // namespace rekindle::train
