#include "worker/train/engine/engine.h"

#include <malloc.h>

#include <utility>

#include "common/log/log.h"
#include "common/time/clock.h"
#include "worker/train/restore/read_checkpoint.h"

namespace rekindle::train {
namespace {

// `kStateSeconds` is the progress deadline of the communicator while state is handed from rank to rank.
constexpr double kStateSeconds = 30;
// After `kIdleSeconds` without a new directive the engine checks whether it was told to stop.
constexpr double kIdleSeconds = 0.2;
constexpr double kStoreRetrySeconds = 0.5;

}  // namespace

Engine::Engine(EngineOptions options, EngineParts parts)
    : options_(std::move(options)),
      parts_(std::move(parts)),
      reporter_(parts_.control),
      watch_(parts_.control.directives()),
      teller_(parts_.control, reporter_, parts_.metrics, parts_.timeline),
      model_(parts_.device, parts_.model),
      exchanges_(parts_.device, parts_.nccl),
      placement_(MakePlacement(parts_.device, options_.spec, parts_.model.layout(), reporter_)),
      judge_(options_.spec, parts_.model.layout()),
      steps_(parts_.device, model_, parts_.batches, options_.spec, reporter_, parts_.metrics),
      saver_({.spec_digest = options_.spec_digest, .retention = options_.retention},
             {.device = parts_.device,
              .spec = options_.spec,
              .layout = parts_.model.layout(),
              .placement = *placement_,
              .control = parts_.control,
              .reporter = reporter_,
              .checkpoints = parts_.checkpoints,
              .open_store = parts_.open_store,
              .clock = parts_.clock,
              .stopping = [this] { return stopping_.load(); }}) {
  if (parts_.checkpoints != nullptr) {
    search_ = std::make_unique<CheckpointSearch>(*parts_.checkpoints, reporter_, common::SteadySeconds);
  }
}

Engine::~Engine() = default;

void Engine::Stop() {
  stopping_ = true;
  parts_.model.SetUnwanted(true);
}

void Engine::Note(const std::string& text) { teller_.Note(text); }

absl::Status Engine::Allocate() {
  absl::StatusOr<TrainState> state = placement_->Zero();
  if (!state.ok()) return state.status();
  state_ = *std::move(state);
  absl::Status status = placement_->Reserve();
  if (status.ok()) status = steps_.Allocate();
  if (status.ok()) status = saver_.Allocate();
  if (!status.ok()) return status;
  // Nothing that is exchanged is longer than an exact gradient.
  constexpr int64_t kMostBytes = 8;
  return exchanges_.Allocate(parts_.model.layout().total * kMostBytes);
}

absl::Status Engine::Run() {
  teller_.Introduce({.data_fingerprint = options_.data_fingerprint,
                     .probe_digest = options_.probe_digest,
                     .unigram_bits_per_byte = options_.unigram_bits_per_byte,
                     .epoch_steps = static_cast<double>(parts_.batches.train_samples()) / options_.spec.global_batch,
                     .micro_batch = options_.spec.micro_batch,
                     .micro_batch_reason = options_.micro_batch_reason,
                     .micro_batch_search_seconds = options_.micro_batch_search_seconds,
                     .device = options_.device});
  AwaitStore();
  teller_.Ready();
  Membership membership;
  while (AwaitMembership(&membership)) {
    const double start = parts_.clock();
    teller_.Works(true);
    RunGeneration(membership);
    if (exchanges_.HasLeftNccl()) teller_.LeftNccl();
    teller_.Works(false);
    log::Info("generation ended", {{"generation", membership.generation},
                                   {"step", static_cast<long long>(state_.scalars.step)},
                                   {"seconds", parts_.clock() - start}});
  }
  saver_.KeepEnd();
  return failure_;
}

bool Engine::AwaitMembership(Membership* membership) {
  const double start = parts_.clock();
  const DirectiveBox& directives = parts_.control.directives();
  for (;;) {
    const int64_t version = directives.Version();
    const Directive directive = directives.Latest();
    if (failure_.ok() && !directive.error.empty()) Fail(absl::FailedPreconditionError(directive.error));
    if (stopping_ || !failure_.ok()) return false;
    if (directive.action == Directive::Action::kExit) {
      log::Info("leaves", {{"reason", directive.reason}});
      return false;
    }
    const bool newer = directive.membership.generation > generation_;
    if (newer && directive.membership.RankOf(options_.trainer) >= 0) {
      *membership = directive.membership;
      teller_.Stalled(parts_.clock() - start);
      return true;
    }
    const Report said = reporter_.Snapshot();
    // The final state may be in the memory of the host already, and still be on its way to the store.
    if (said.phase != Phase::kFinished && DeviceHasFailed()) return false;
    if (said.store_unseen && said.phase == Phase::kReady && !directive.without_store) AwaitStore();
    if (newer && said.phase != Phase::kReady) LeaveOut(directive);
    if (search_) search_->Follow(directive);
    directives.WaitForChange(version, kIdleSeconds);
  }
}

// Waits until the job's store can be read. A trainer that cannot look into the store must not join, because it might
// make the job start from scratch.
void Engine::AwaitStore() {
  if (!search_) return;
  const DirectiveBox& directives = parts_.control.directives();
  for (;;) {
    const Directive directive = directives.Latest();
    if (stopping_ || directive.action == Directive::Action::kExit || !directive.error.empty()) return;
    if (search_->FindNewest().ok()) return;
    if (directive.without_store) return teller_.StoreUnseen();
    directives.WaitForChange(directives.Version(), kStoreRetrySeconds);
  }
}

// Forgets the state, because a newer generation left this trainer out, so nothing that it holds counts any more. The
// process is warm and may join again.
void Engine::LeaveOut(const Directive& directive) {
  log::Warning("left out", {{"generation", directive.membership.generation}, {"reason", directive.reason}});
  steps_.Forget();
  placement_->Forget();
  teller_.KeepsFinalState(false);
  reporter_.BecomeReady();
}

void Engine::RunGeneration(const Membership& membership) {
  const double start = parts_.clock();
  const int rank = membership.RankOf(options_.trainer);
  generation_ = membership.generation;
  parts_.model.SetUnwanted(false);
  // Stop() may have come in between.
  if (stopping_) parts_.model.SetUnwanted(true);
  log::SetContext({{"generation", generation_}, {"rank", rank}});
  saver_.Enter(generation_, rank);
  if (const absl::Status status = TakeMicroBatch(membership.micro_batch); !status.ok()) return Fail(status);
  teller_.NcclFailed(false);
  reporter_.Enter(membership);
  const auto communicator = ConnectTo(membership, rank);
  if (!communicator.ok()) return;
  comm::Communicator& connected = **communicator;
  teller_.Connected(rank, generation_, parts_.clock() - start);
  const auto exchange = exchanges_.Make(connected, membership.transport);
  if (!exchange.ok()) {
    log::Warning("could not take part", {{"error", std::string(exchange.status().message())}});
    connected.Abort(exchange.status());
    return reporter_.Interrupt(generation_, membership, exchange.status(), {});
  }
  GenerationRun run(membership, **exchange, PartsOfGeneration());
  const absl::Status status = WatchedRun(membership, **exchange, run);
  if (status.ok()) return;
  const bool communicator_failed = !connected.status().ok();
  // The communicator is aborted first, so that no other thread still reads the gradients when they change.
  connected.Abort(status);
  if (DeviceHasFailed()) return;
  if (run.out_of_memory() && options_.spec.micro_batch > 1) {
    teller_.OutOfMemory(status, options_.spec.micro_batch);
    reporter_.Interrupt(generation_, membership, status, {});
  } else if (communicator_failed || absl::IsAborted(status) || absl::IsCancelled(status)) {
    // A model cancels a call because the generation is over or the trainer ends.
    Interrupted(membership, status, connected.accusations());
  } else {
    Fail(status);
  }
}

bool Engine::DeviceHasFailed() {
  const device::Health health = parts_.device.Look();
  if (health.state == device::Health::State::kFine) return false;
  log::Error("the device has failed", {{"why", health.words}});
  if (parts_.device_failed) parts_.device_failed(health);
  Fail(absl::InternalError(health.words));
  return true;
}

// NCCL has failed if it says so (INTERNAL), or if an exchange by it makes no progress and no rank is to blame.
void Engine::Interrupted(const Membership& membership, const absl::Status& status,
                         const std::vector<comm::Accusation>& accusations) {
  const bool by_nccl = membership.transport == device::Transport::kNccl && accusations.empty();
  if (by_nccl && (absl::IsInternal(status) || absl::IsDeadlineExceeded(status))) teller_.NcclFailed(true);
  reporter_.Interrupt(membership.generation, membership, status, accusations);
}

// Takes over the micro-batch size of the generation that begins. Gradients of an unfinished step that were computed
// with another size are forgotten.
absl::Status Engine::TakeMicroBatch(int micro_batch) {
  int& present = options_.spec.micro_batch;
  if (micro_batch > 0 && micro_batch != present) {
    if (!parts_.resize_batches) return absl::FailedPreconditionError("this trainer cannot change its micro-batch size");
    if (absl::Status status = parts_.resize_batches(micro_batch); !status.ok()) return status;
    log::Info("micro-batch size changes", {{"from", present}, {"to", micro_batch}});
    present = micro_batch;
    steps_.Resize();
    // When the micro-batch size changes, the freed memory goes back to the system, because the allocator would keep it
    // in pieces that may not fit the new micro-batches.
    malloc_trim(0);
  }
  teller_.MicroBatchIs(present);
  return absl::OkStatus();
}

// Connects this rank to the other members. An error of the communicator, now or later, is reported as an interruption.
absl::StatusOr<std::unique_ptr<comm::Communicator>> Engine::ConnectTo(const Membership& membership, int rank) {
  std::vector<comm::Accusation> accused;
  auto communicator = parts_.connect(
      membership, rank, {.progress_seconds = kStateSeconds},
      [this, membership](const absl::Status& status, const std::vector<comm::Accusation>& accusations) {
        log::Warning("communicator ended", {{"error", std::string(status.message())}});
        Interrupted(membership, status, accusations);
      },
      [this, &membership] { return Superseded(membership.generation); }, &accused);
  if (!communicator.ok()) {
    log::Warning("could not connect", {{"error", std::string(communicator.status().message())}});
    reporter_.Interrupt(membership.generation, membership, communicator.status(), accused);
  }
  return communicator;
}

bool Engine::Superseded(int generation) const {
  const Directive directive = parts_.control.directives().Latest();
  return stopping_ || directive.action == Directive::Action::kExit || !CheckGoesOn(directive, generation).ok();
}

GenerationParts Engine::PartsOfGeneration() {
  return {.device = parts_.device,
          .spec = options_.spec,
          .layout = parts_.model.layout(),
          .control = parts_.control,
          .reporter = reporter_,
          .teller = teller_,
          .saver = saver_,
          .placement = *placement_,
          .steps = steps_,
          .judge = judge_,
          .state = state_,
          .speed = speed_,
          .clock = parts_.clock,
          .stopping = [this] { return stopping_.load(); }};
}

absl::Status Engine::WatchedRun(const Membership& membership, device::Exchange& exchange, GenerationRun& run) {
  comm::Communicator& communicator = exchange.communicator();
  // The interruption is reported before the abort, so that a step whose exchange ends in between is not applied.
  watch_.Enter(membership.generation, [&](const absl::Status& why) {
    log::Warning("generation ends", {{"error", std::string(why.message())}});
    reporter_.Interrupt(membership.generation, membership, why, {});
    parts_.model.SetUnwanted(true);
    communicator.Abort(why);
  });
  absl::Status status = TakeState(membership, exchange, run);
  if (status.ok()) saver_.Join(membership, state_.scalars.step);
  if (status.ok()) status = run.Run();
  watch_.Leave();
  return status;
}

absl::Status Engine::TakeState(const Membership& membership, device::Exchange& exchange, const GenerationRun& run) {
  using enum Membership::Source;
  comm::Communicator& communicator = exchange.communicator();
  const Membership::Source source = membership.source;
  const bool reads = source == kCheckpoint || (source == kInitial && parts_.load_weights != nullptr);
  if (reads) communicator.SetDeadlines({.progress_seconds = kStoreSeconds});
  absl::Status status = placement_->Enter(membership, communicator.rank());
  if (!status.ok()) return status;
  const bool receives = source != kRank || membership.members[static_cast<size_t>(communicator.rank())].needs_state;
  // The copy of the state for an earlier checkpoint must end before the state is replaced or freed.
  if (receives || placement_->Wanted() != nullptr) saver_.WaitCopied();
  if (source == kInitial) status = StartAfresh();
  if (source == kCheckpoint) status = RestoreCheckpoint(membership);
  if (source == kRank) {
    const auto may_swap = [this] { return reporter_.BeginApply(); };
    status = placement_->Transfer(exchange, membership, has_state_, may_swap, state_);
    if (!status.ok() && receives) steps_.Forget();
  }
  if (status.ok() && receives) {
    steps_.Forget();
    has_state_ = true;
    reporter_.EndApply(state_.scalars.step, state_.scalars.attempt, run.Assigned());
  }
  if (status.ok()) status = placement_->ReleaseUnwanted(exchange, state_);
  // In a step a rank waits only a short time for the others, but reading the state or the weights from the store takes
  // long. So no rank steps before every rank has read them.
  if (status.ok() && reads) status = comm::Barrier(communicator);
  return status;
}

absl::Status Engine::StartAfresh() {
  // A rank without a state gives up its memory first, because a device may have no room for two.
  if (!has_state_) state_ = {};
  absl::StatusOr<TrainState> fresh = placement_->Zero();
  if (!fresh.ok()) return fresh.status();
  fresh->scalars.loss_scale = judge_.InitialLossScale();
  const absl::Status loaded = model_.Initialize(options_.spec.seed, parts_.load_weights, fresh->weights);
  const bool applies = loaded.ok() && reporter_.BeginApply();
  if (applies || !has_state_) state_ = *std::move(fresh);
  if (!loaded.ok()) return loaded;
  if (!applies) return absl::AbortedError("interrupted before the state was made");
  placement_->Replaced(true);
  return absl::OkStatus();
}

absl::Status Engine::RestoreCheckpoint(const Membership& membership) {
  if (parts_.checkpoints == nullptr) return absl::FailedPreconditionError("told to restore, but there is no store");
  // The checkpoint is restored into new memory, so that an interruption leaves the present state whole. A rank without
  // a state restores into the memory that it already has, because using mapped pages again costs nothing.
  absl::StatusOr<TrainState> made = has_state_ ? placement_->Zero() : std::move(state_);
  if (!made.ok()) return made.status();
  TrainState target = *std::move(made);
  const absl::Status room = placement_->MakeRoom(target);
  const FittingCheckpoint fitting{options_.spec_digest, parts_.model.layout(), placement_->Wanted()};
  const absl::StatusOr<checkpoint::Restored> restored =
      room.ok() ? ReadCheckpoint(parts_.device, *parts_.checkpoints, membership, fitting, &target) : room;
  const bool applies = restored.ok() && reporter_.BeginApply();
  // After a restore that failed or was interrupted, a rank without a state takes its memory back, but the memory does
  // not count as a state.
  if (applies || !has_state_) {
    state_ = std::move(target);
    placement_->Replaced(applies);
  }
  if (!restored.ok()) {
    has_state_ = false;
    placement_->Replaced(false);
    teller_.NotRestored(membership.checkpoint, restored.status());
    // The checkpoint that could not be restored was in the store when the coordinator chose it. To find out whether it
    // is damaged or gone, the search now reads every byte of it.
    search_->Find(membership.checkpoint, /*verify=*/true);
    return absl::AbortedError(restored.status().message());
  }
  if (!applies) return absl::AbortedError("interrupted before the state was restored");
  saver_.Restored(state_.scalars.step);
  const auto world_size = static_cast<int>(membership.members.size());
  teller_.Restored({membership.generation, state_.scalars.step, world_size}, membership.checkpoint, *restored);
  return absl::OkStatus();
}

void Engine::Fail(const absl::Status& status) {
  failure_ = status;
  teller_.Failed(status);
}

}  // namespace rekindle::train
