#include "worker/train/engine.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/clock.h"
#include "common/log.h"
#include "worker/train/buffers.h"
#include "worker/train/exact_scale.h"
#include "worker/train/optimizer.h"
#include "worker/train/schedule.h"

namespace rekindle::train {
namespace {

constexpr double kStateSeconds = 30;  // Progress deadline while state is handed on.
constexpr double kIdleSeconds = 0.2;  // A wait without news; then the loop looks whether it was told to stop.

}  // namespace

Engine::Engine(EngineOptions options, EngineParts parts)
    : options_(std::move(options)),
      parts_(std::move(parts)),
      reporter_(parts_.control),
      watch_(parts_.control),
      placement_(MakePlacement(options_.spec, parts_.model.layout(), reporter_)),
      state_(placement_->Zero()),
      scaler_(options_.spec.compute, int64_t{options_.spec.micro_batch} * std::max(1, options_.spec.context)),
      steps_(parts_.model, parts_.batches, options_.spec, reporter_, parts_.metrics),
      schedule_(options_.spec.checkpoint) {
  parts_.model.BindWeights(state_.weights.data());
  if (parts_.checkpoints != nullptr) {
    checkpointer_ = std::make_unique<Checkpointer>(*parts_.checkpoints, CheckpointerOptionsOf());
    search_ = std::make_unique<CheckpointSearch>(*parts_.checkpoints, reporter_, common::SteadySeconds);
  }
}

Engine::~Engine() = default;

void Engine::Stop() { stopping_ = true; }

absl::Status Engine::Run() {
  reporter_.Update(
      [&](Report& r) {
        r.data_fingerprint = options_.data_fingerprint;
        r.probe_digest = options_.probe_digest;
        r.unigram_bits_per_byte = options_.unigram_bits_per_byte;
        r.epoch_steps = static_cast<double>(parts_.batches.train_samples()) / options_.spec.global_batch;
        r.micro_batch = options_.spec.micro_batch;
        r.micro_batch_reason = options_.micro_batch_reason;
        r.micro_batch_search_seconds = options_.micro_batch_search_seconds;
      },
      false);
  AwaitStore();
  reporter_.Update([](Report& r) { r.phase = Phase::kReady; }, true);
  parts_.timeline.Mark("ready", 0, 0, 0);
  Membership membership;
  while (AwaitMembership(&membership)) {
    const double start = common::SteadySeconds();
    SetWorks(true);
    RunGeneration(membership);
    SetWorks(false);
    log::Info("generation ended", {{"generation", membership.generation},
                                   {"step", static_cast<long long>(state_.scalars.step)},
                                   {"seconds", common::SteadySeconds() - start}});
  }
  KeepEnd();
  return failure_;
}

void Engine::SetWorks(bool works) {
  parts_.metrics.Update([&](TrainerMetrics& m) { m.works = works; });
}

bool Engine::AwaitMembership(Membership* membership) {
  const double start = common::SteadySeconds();
  for (;;) {
    const int64_t version = parts_.control.Version();
    const Directive directive = parts_.control.Latest();
    if (failure_.ok() && !directive.error.empty()) Fail(absl::FailedPreconditionError(directive.error));
    if (stopping_ || !failure_.ok()) return false;
    if (directive.action == Directive::Action::kExit) {
      log::Info("leaves", {{"reason", directive.reason}});
      return false;
    }
    const bool newer = directive.membership.generation > generation_;
    if (newer && directive.membership.RankOf(options_.trainer) >= 0) {
      *membership = directive.membership;
      parts_.metrics.Update([&](TrainerMetrics& m) { m.stall_seconds += common::SteadySeconds() - start; });
      return true;
    }
    const Report& said = reporter_.Snapshot();
    if (said.store_unseen && said.phase == Phase::kReady && !directive.without_store) AwaitStore();
    if (newer && reporter_.Snapshot().phase != Phase::kReady) {
      // Left out of a newer generation: nothing held counts any more, but the process is warm and may join again.
      log::Warning("left out", {{"generation", directive.membership.generation}, {"reason", directive.reason}});
      steps_.Forget();
      placement_->Forget();
      parts_.metrics.Update([](TrainerMetrics& m) { m.keeps_final_state = false; });
      reporter_.BecomeReady();
    }
    if (search_) search_->Follow(directive);
    parts_.control.WaitForChange(version, kIdleSeconds);
  }
}

void Engine::RunGeneration(const Membership& membership) {
  const double start = common::SteadySeconds();
  const int rank = membership.RankOf(options_.trainer);
  generation_ = membership.generation;
  commits_ = rank == 0;
  log::SetContext({{"generation", generation_}, {"rank", rank}});
  if (checkpointer_) checkpointer_->Enter(generation_);
  flush_until_ = 0;
  if (const absl::Status status = TakeMicroBatch(membership.micro_batch); !status.ok()) return Fail(status);
  reporter_.Enter(membership);
  std::vector<comm::Accusation> accused;
  auto communicator = parts_.connect(
      membership, rank, {.progress_seconds = kStateSeconds},
      [this, membership](const absl::Status& status, const std::vector<comm::Accusation>& accusations) {
        log::Warning("communicator ended", {{"error", std::string(status.message())}});
        reporter_.Interrupt(membership.generation, membership, status, accusations);
      },
      [this, &membership] { return Superseded(membership.generation); }, &accused);
  if (!communicator.ok()) {
    log::Warning("could not connect", {{"error", std::string(communicator.status().message())}});
    reporter_.Interrupt(membership.generation, membership, communicator.status(), accused);
    return;
  }
  parts_.metrics.Update([&](TrainerMetrics& m) {
    m.rank = rank;
    m.generation = membership.generation;
    m.stall_seconds += common::SteadySeconds() - start;
  });
  Generation generation{membership, rank, **communicator, StepRanges(RangesOf(membership))};
  stragglers_.Begin(rank);
  const absl::Status status = WatchedStepsOf(generation);
  if (status.ok()) return;
  const bool communicator_failed = !(*communicator)->status().ok();
  (*communicator)->Abort(status);
  if (out_of_memory_ && options_.spec.micro_batch > 1) {
    InterruptForMemory(membership, status);
  } else if (communicator_failed || absl::IsAborted(status)) {
    reporter_.Interrupt(membership.generation, membership, status, (*communicator)->accusations());
  } else {
    Fail(status);
  }
}

absl::Status Engine::WatchedStepsOf(Generation& generation) {
  // Reported before the communicator ends, so that nothing is applied that was exchanged meanwhile.
  watch_.Enter(generation_, [&](const absl::Status& why) {
    log::Warning("generation ends", {{"error", std::string(why.message())}});
    reporter_.Interrupt(generation_, generation.membership, why, {});
    generation.communicator.Abort(why);
  });
  const absl::Status status = StepsOf(generation);
  watch_.Leave();
  return status;
}

absl::Status Engine::StepsOf(Generation& generation) {
  const Membership::Source source = generation.membership.source;
  const bool reads = source == Membership::Source::kCheckpoint ||
                     (source == Membership::Source::kInitial && parts_.load_weights != nullptr);
  if (reads) generation.communicator.SetDeadlines({.progress_seconds = kStoreSeconds});
  absl::Status status = placement_->Enter(generation.membership, generation.rank);
  if (status.ok()) status = TakeState(generation);
  if (status.ok()) status = placement_->Settle(generation.communicator, state_);
  if (status.ok() && reads) {  // One may read memory while another reads a bucket: nobody steps before all can.
    status = comm::Barrier(generation.communicator);
  }
  if (!status.ok()) return status;
  JoinSchedule(generation);
  stop_reason_.clear();
  told_saved_ = false;
  reporter_.Assign(AssignedIn(generation));
  parts_.timeline.Mark("joined", generation_, state_.scalars.step, generation.communicator.world_size());
  while (!generation.membership.finishing && state_.scalars.step < options_.spec.steps) {
    bool yielded = false;
    if (status = OneStep(generation, &yielded); !status.ok()) return status;
    if (yielded) return absl::OkStatus();
    if (!stop_reason_.empty()) break;
    if (stopping_) return absl::AbortedError("this trainer was told to stop");
  }
  return Finish(generation);
}

absl::Status Engine::TakeState(Generation& generation) {
  const Membership& membership = generation.membership;
  const bool receives = membership.source != Membership::Source::kRank ||
                        membership.members[static_cast<size_t>(generation.rank)].needs_state;
  // What it reads is about to be replaced, or given back.
  if (checkpointer_ && (receives || placement_->Wanted() != nullptr)) checkpointer_->WaitCopied();
  absl::Status status;
  switch (membership.source) {
    case Membership::Source::kInitial:
      status = StartAfresh();
      break;
    case Membership::Source::kCheckpoint:
      status = RestoreCheckpoint(membership);
      break;
    case Membership::Source::kRank: {
      status = placement_->Transfer(
          generation.communicator, membership, [this] { return reporter_.BeginApply(); }, state_);
      if (status.ok() && !receives) return status;
      steps_.Forget();
      break;
    }
  }
  if (!status.ok()) return status;
  has_state_ = true;
  reporter_.EndApply(state_.scalars.step, state_.scalars.attempt, AssignedIn(generation));
  return absl::OkStatus();
}

absl::Status Engine::StartAfresh() {
  TrainState fresh = placement_->Zero();
  fresh.scalars.loss_scale = scaler_.Initial();
  parts_.model.Initialize(options_.spec.seed, fresh.weights.span());
  const absl::Status loaded = parts_.load_weights ? parts_.load_weights(fresh.weights.span()) : absl::OkStatus();
  if (!loaded.ok()) return loaded;
  if (!reporter_.BeginApply()) return absl::AbortedError("interrupted before the state was made");
  state_ = std::move(fresh);
  placement_->Replaced(true);
  parts_.model.BindWeights(state_.weights.data());
  steps_.Forget();
  return absl::OkStatus();
}

absl::Status Engine::OneStep(Generation& generation, bool* yielded) {
  const double start = parts_.clock();
  if (checkpointer_ && checkpointer_->Status().refused_generation == generation_) {
    return absl::AbortedError("the job's store knows of a newer generation: " + checkpointer_->Status().error);
  }
  generation.communicator.SetDeadlines({.progress_seconds = StepDeadline()});
  StepOutcome outcome;
  absl::Status status = Computed([&] {
    return steps_.Run(state_.scalars, AssignedIn(generation), ExtrasFor(generation), generation.communicator, &outcome);
  });
  if (!status.ok()) return status;
  if (checkpointer_ && generation.rank == 0) {
    for (const StepMessage& message : outcome.messages) {
      checkpointer_->Collect(generation_, {message.checkpoint_step, message.shards});
    }
  }
  FollowSpeeds(generation, outcome);
  if (status = AwaitLease(generation, outcome); !status.ok()) return status;
  const int64_t before = state_.scalars.step;
  if (status = ApplyOrRedo(generation, outcome); !status.ok()) return status;
  if (state_.scalars.step == before) return absl::OkStatus();
  const double seconds = parts_.clock() - start;
  const bool was_interrupted = generation.membership.interrupted && before == generation.membership.step;
  schedule_.StepDone(seconds, !was_interrupted && outcome.evaluation.micro_batches == 0);
  TellStep(outcome, seconds);
  TellBytesSaved(generation);
  if (was_interrupted) {
    parts_.metrics.Update([&](TrainerMetrics& m) { m.micro_batches_redone += steps_.computed(); });
  }
  parts_.timeline.Mark("step", generation_, state_.scalars.step, generation.communicator.world_size(),
                       steps_.computed());
  committed_step_ = std::max(committed_step_, outcome.committed_step);
  FollowCheckpoints(generation);
  BeginCheckpointIfDecided(generation, outcome);
  if (!outcome.yield || state_.scalars.step >= options_.spec.steps) return absl::OkStatus();
  *yielded = true;
  return Yield(generation, outcome.yield_with_checkpoint);
}

absl::Status Engine::ApplyOrRedo(Generation& generation, const StepOutcome& outcome) {
  StateScalars& scalars = state_.scalars;
  const std::optional<StateScalars> redo = ScaledAnew(outcome.record);
  LeverState levers = scalars.levers;  // Theirs counts only if the step does.
  const absl::StatusOr<Verdict> verdict = redo ? Verdict::kRedo : Judge(outcome, &levers);
  if (!verdict.ok() || *verdict == Verdict::kStop) return verdict.status();
  if (!redo) {
    std::optional<PlannedUpdate> update;
    if (*verdict == Verdict::kApply) update = PlanStep(outcome, levers);
    if (update && update->result.found_inf) {
      return absl::InvalidArgumentError("step " + std::to_string(scalars.step + 1) +
                                        ": the gradient's norm is not finite; lower optimizer.learning_rate");
    }
    if (absl::Status status = Prepare(generation, outcome, std::move(update)); !status.ok()) return status;
  }
  if (checkpointer_) {
    const double stalled = checkpointer_->WaitCopied();
    schedule_.Stalled(stalled);
    parts_.metrics.Update([&](TrainerMetrics& m) { m.checkpoint_stall_seconds += stalled; });
  }
  if (!reporter_.BeginApply()) return absl::AbortedError("interrupted before the step was applied");
  const double start = common::SteadySeconds();
  if (redo) {
    scalars = *redo;
    reporter_.EndApply(scalars.step, scalars.attempt, AssignedIn(generation));
    return absl::OkStatus();
  }
  if (absl::Status status = placement_->Apply(state_); !status.ok()) return status;
  if (*verdict == Verdict::kApply) {
    UpdateBuffers(parts_.model.layout(), outcome.gradient, options_.spec.micro_batches(), &state_);
    if (options_.spec.exact) {
      scalars.exponents = NextExponents(scalars.exponents, outcome.record.maxima, options_.spec.micro_batches());
    }
    scalars.loss_scale = scaler_.Applied(scalars.loss_scale);
  }
  // Its gradients are not finite unscaled either: the scale was lowered in vain.
  const bool in_vain = outcome.record.NotFinite() && !outcome.record.loss_not_finite;
  if (*verdict == Verdict::kSkip && in_vain) scalars.loss_scale.log2 = scaler_.Initial().log2;
  scalars.levers = std::move(levers);
  ++scalars.step;
  scalars.attempt = 0;
  scalars.cursor += options_.spec.global_batch;
  const bool goes_on = !outcome.yield;
  reporter_.EndApply(scalars.step, scalars.attempt, goes_on ? AssignedIn(generation) : std::set<int>());
  parts_.metrics.Update([&](TrainerMetrics& m) { m.optimizer_seconds += common::SteadySeconds() - start; });
  return absl::OkStatus();
}

PlannedUpdate Engine::PlanStep(const StepOutcome& outcome, const LeverState& levers) {
  const TrainSpec& spec = options_.spec;
  learning_rate_ = LearningRate(spec.optimizer, spec.schedule, state_.scalars.step, spec.steps, levers);
  return PlanUpdate(parts_.model.layout(), outcome.gradient, outcome.record.tokens, spec.optimizer, learning_rate_,
                    spec.clip_norm, state_.scalars);
}

absl::Status Engine::Prepare(Generation& generation, const StepOutcome& outcome, std::optional<PlannedUpdate> update) {
  const double start = common::SteadySeconds();
  const absl::Status status = placement_->Prepare(std::move(update), outcome.reduced, generation.communicator, state_);
  parts_.metrics.Update([&](TrainerMetrics& m) { m.reduce_seconds += common::SteadySeconds() - start; });
  return status;
}

absl::Status Engine::Yield(Generation& generation, bool with_checkpoint) {
  if (with_checkpoint && checkpointer_) {
    generation.communicator.SetDeadlines({.progress_seconds = kStoreSeconds});
    if (absl::Status status = CheckpointNow(generation); !status.ok()) return status;
  }
  generation.communicator.Close();
  reporter_.Leave(Phase::kQuiesced, state_.scalars.step);
  return absl::OkStatus();
}

void Engine::Fail(const absl::Status& status) {
  failure_ = status;
  log::Error("this trainer cannot go on", {{"error", std::string(status.message())}});
  reporter_.Update(
      [&](Report& r) {
        r.phase = Phase::kFailed;
        r.error = std::string(status.message());
        r.error_is_jobs_fault = absl::IsInvalidArgument(status) || absl::IsOutOfRange(status);
      },
      true);
}

bool Engine::Superseded(int generation) const {
  const Directive directive = parts_.control.Latest();
  return stopping_ || directive.action == Directive::Action::kExit || !CheckGoesOn(directive, generation).ok();
}

double Engine::StepDeadline() const {
  constexpr double kLeastSeconds = 2;
  constexpr double kStepsOfSilence = 5;
  return std::max(kLeastSeconds, kStepsOfSilence * times_.step_seconds_p99());
}

}  // namespace rekindle::train
