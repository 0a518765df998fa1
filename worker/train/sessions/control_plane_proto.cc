#include "worker/train/sessions/control_plane_proto.h"

#include <algorithm>

#include "common/time/clock.h"

namespace rekindle::train {
namespace {

v1::TrainerPhase ToProto(Phase phase) {
  switch (phase) {
    case Phase::kStarting:
      return v1::TRAINER_STARTING;
    case Phase::kReady:
      return v1::TRAINER_READY;
    case Phase::kRunning:
      return v1::TRAINER_RUNNING;
    case Phase::kStanding:
      return v1::TRAINER_STANDING;
    case Phase::kInterrupted:
      return v1::TRAINER_INTERRUPTED;
    case Phase::kQuiesced:
      return v1::TRAINER_QUIESCED;
    case Phase::kFinished:
      return v1::TRAINER_FINISHED;
    case Phase::kFailed:
      return v1::TRAINER_FAILED;
  }
  return v1::TRAINER_PHASE_UNSPECIFIED;
}

v1::Accusation::Kind ToProto(comm::Accusation::Kind kind) {
  switch (kind) {
    case comm::Accusation::Kind::kClosed:
      return v1::Accusation::CLOSED;
    case comm::Accusation::Kind::kTimeout:
      return v1::Accusation::TIMEOUT;
    case comm::Accusation::Kind::kUnreachable:
      return v1::Accusation::UNREACHABLE;
  }
  return v1::Accusation::KIND_UNSPECIFIED;
}

void ToProto(const CheckpointName& name, v1::Checkpointed* message) {
  message->set_manifest(name.manifest);
  message->set_generation(name.generation);
  message->set_step(static_cast<int32_t>(name.step));
}

void ToProto(const ReportedDevice& device, v1::TrainerDevice* message) {
  message->set_uuid(device.uuid);
  message->set_nccl_version(device.nccl_version);
  message->set_no_nccl(device.no_nccl);
  message->set_shares_gpu(device.shares_gpu);
  message->set_nccl_left(device.nccl_left);
  message->set_nccl_failed(device.nccl_failed);
}

Member FromProto(const v1::Member& message) {
  Member member;
  member.trainer = message.trainer();
  member.node = message.node();
  member.address = message.address();
  member.host = message.host();
  member.begin = message.begin();
  member.end = message.end();
  member.holds.assign(message.holds().begin(), message.holds().end());
  member.adds.assign(message.adds().begin(), message.adds().end());
  member.needs_state = message.needs_state();
  return member;
}

Membership FromProto(const v1::Membership& message) {
  Membership membership;
  membership.generation = message.generation();
  for (const v1::Member& member : message.members()) membership.members.push_back(FromProto(member));
  membership.step = message.step();
  membership.attempt = message.attempt();
  membership.interrupted = message.interrupted();
  membership.reason = message.reason();
  membership.interruptions = message.interruptions();
  membership.node_hours = message.node_hours();
  for (const v1::ShardHolders& shard : message.shards()) membership.shards.push_back({shard.first(), shard.second()});
  membership.micro_batch = message.micro_batch();
  membership.finishing = message.finishing();
  membership.final_store = message.final_store();
  membership.digest = message.digest();
  membership.lease_seconds = message.lease_seconds();
  membership.lease_save_seconds = message.lease_save_seconds();
  membership.lease_step_seconds = message.lease_step_seconds();
  membership.transport =
      message.transport() == v1::TRANSPORT_NCCL ? device::Transport::kNccl : device::Transport::kHost;
  switch (message.source().source_case()) {
    case v1::StateSource::kRank:
      membership.source = Membership::Source::kRank;
      membership.source_rank = message.source().rank();
      break;
    case v1::StateSource::kCheckpoint:
      membership.source = Membership::Source::kCheckpoint;
      membership.checkpoint = message.source().checkpoint();
      break;
    default:
      membership.source = Membership::Source::kInitial;
  }
  return membership;
}

Directive::Action FromProto(v1::TrainerDirective::Action action) {
  switch (action) {
    case v1::TrainerDirective::WAIT:
      return Directive::Action::kWait;
    case v1::TrainerDirective::RUN:
      return Directive::Action::kRun;
    case v1::TrainerDirective::YIELD:
      return Directive::Action::kYield;
    case v1::TrainerDirective::EXIT:
      return Directive::Action::kExit;
    default:
      return Directive::Action::kNone;
  }
}

// Adds to a trainer's report what the rank holds of the state, and what it computes.
void AddState(const Report& report, v1::TrainerReport* message) {
  message->set_phase(ToProto(report.phase));
  message->set_generation(report.generation);
  message->set_has_state(report.has_state);
  message->set_step(static_cast<int32_t>(report.step));
  message->set_attempt(static_cast<int32_t>(report.attempt));
  for (int block : report.held_blocks) message->add_held_blocks(block);
  message->set_total_blocks(report.total_blocks);
  message->set_prepared(report.prepared);
  for (int index : report.assigned) message->add_assigned(index);
  message->set_computed(report.computed);
  for (const Accused& accused : report.accusations) {
    v1::Accusation* out = message->add_accusations();
    out->set_trainer(accused.trainer);
    out->set_kind(ToProto(accused.kind));
    out->set_detail(accused.detail);
  }
  if (report.device) ToProto(*report.device, message->mutable_device());
  message->set_micro_batch_seconds(report.micro_batch_seconds);
  message->set_step_seconds(report.step_seconds);
  message->set_step_seconds_p99(report.step_seconds_p99);
  message->set_data_fingerprint(report.data_fingerprint);
  message->set_probe_digest(report.probe_digest);
}

// Adds to a trainer's report what the rank knows of checkpoints: what it could restore, what it has saved, and what it
// has found damaged.
void AddCheckpoints(const Report& report, v1::TrainerReport* message) {
  if (!report.restorable.manifest.empty()) ToProto(report.restorable, message->mutable_restorable());
  message->set_restorable_verified(report.restorable_verified);
  message->set_restorable_durable(report.restorable_durable);
  message->set_missing_checkpoint(report.missing_checkpoint);
  message->set_missing_reason(report.missing_reason);
  for (const DamagedCheckpoint& damaged : report.damaged) {
    v1::DamagedCheckpoint* out = message->add_damaged();
    ToProto(damaged.name, out->mutable_checkpoint());
    out->set_reason(damaged.reason);
  }
  message->set_store_generation(report.store_generation);
  message->set_looked(report.looked);
  message->set_stored_job_file(report.stored_job_file);
  for (const std::string& skipped : report.skipped_checkpoints) message->add_skipped_checkpoints(skipped);
  if (!report.committed.manifest.empty()) ToProto(report.committed, message->mutable_committed());
  message->set_restored(report.restored);
  message->set_flush(report.flush);
  message->set_checkpoint_error(report.checkpoint_error);
  message->set_checkpoints_failed(report.checkpoints_failed);
  message->set_checkpoint_interval_seconds(report.checkpoint_interval_seconds);
  message->set_checkpoint_interval_reason(report.checkpoint_interval_reason);
}

void AddLevers(const Report& report, v1::TrainerReport* message) {
  for (const auto& [name, note] : report.levers) {
    v1::LeverStatus* out = message->add_levers();
    out->set_lever(name);
    out->set_step(static_cast<int32_t>(note.step));
    out->set_text(note.text);
    out->set_steps_saved(note.steps_saved);
    out->set_seconds_saved(note.seconds_saved);
    out->set_bytes_saved(note.bytes_saved);
  }
}

// Adds the progress of the training to a trainer's report.
void AddProgress(const Report& report, v1::TrainerReport* message) {
  message->set_completed_step(static_cast<int32_t>(report.completed_step));
  message->set_loss(report.loss);
  message->set_loss_scale(report.loss_scale);
  message->set_skipped_steps(static_cast<int32_t>(report.skipped_steps));
  message->set_micro_batch(report.micro_batch);
  message->set_micro_batch_reason(report.micro_batch_reason);
  message->set_micro_batch_search_seconds(report.micro_batch_search_seconds);
  message->set_out_of_memory(report.out_of_memory);
  message->set_tokens_per_second(report.tokens_per_second);
  message->set_learning_rate(report.learning_rate);
  AddLevers(report, message);
  message->mutable_validation()->set_step(static_cast<int32_t>(report.validation.step));
  message->mutable_validation()->set_value(report.validation.value);
  message->set_unigram_bits_per_byte(report.unigram_bits_per_byte);
  message->set_epoch_steps(report.epoch_steps);
  message->set_straggler_cause(report.straggler_cause);
  message->set_straggler(report.straggler);
  message->set_note(report.note);
  message->set_state_digest(report.state_digest);
  message->set_stop_reason(report.stop_reason);
  message->set_error(report.error);
  message->set_traceback(report.traceback);
  message->set_error_is_jobs_fault(report.error_is_jobs_fault);
  message->set_store_unseen(report.store_unseen);
}

}  // namespace

void ToProto(const Report& report, v1::TrainerReport* message) {
  AddState(report, message);
  AddCheckpoints(report, message);
  AddProgress(report, message);
}

Directive FromProto(const v1::TrainerDirective& message, double now) {
  Directive directive;
  directive.action = FromProto(message.action());
  directive.membership = FromProto(message.membership());
  directive.checkpoint = message.checkpoint();
  const double within = message.checkpoint_within_seconds();
  if (within > 0) directive.checkpoint_until = now + within;
  directive.find_checkpoint = message.find_checkpoint();
  directive.verify_checkpoint = message.verify_checkpoint();
  directive.look = message.look();
  directive.without_store = message.without_store();
  directive.reason = message.reason();
  directive.error = message.error();
  return directive;
}

}  // namespace rekindle::train
