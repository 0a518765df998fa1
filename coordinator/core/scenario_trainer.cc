#include "coordinator/core/scenario_trainer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/version.h"
#include "coordinator/core/formation.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

void SetCheckpoint(const std::string& name, v1::Checkpointed* checkpoint) {
  const std::vector<std::string> parts = absl::StrSplit(name, '-');
  checkpoint->set_manifest(name);
  checkpoint->set_generation(ToInt(parts[0]));
  checkpoint->set_step(parts.size() > 1 ? ToInt(parts[1]) : 0);
}

v1::Accusation::Kind ToKind(const std::string& word) {
  return word == "timeout"       ? v1::Accusation::TIMEOUT
         : word == "unreachable" ? v1::Accusation::UNREACHABLE
                                 : v1::Accusation::CLOSED;
}

// The blocks of those shards that a member holds, as its trainer reports them: merged, in order.
void HoldShards(const v1::Membership& membership, v1::TrainerReport& report) {
  constexpr int kBlocks = 12;
  report.clear_held_blocks();
  report.set_prepared(false);
  report.set_total_blocks(membership.shards_size() > 0 ? kBlocks : 0);
  for (int i = 0; i < membership.shards_size(); ++i) {
    const v1::ShardHolders& shard = membership.shards(i);
    bool holds = false;
    for (const int rank : {shard.first(), shard.second()}) {
      holds = holds || membership.members(rank).trainer() == report.trainer();
    }
    if (!holds) continue;
    report.add_held_blocks(kBlocks * i / membership.shards_size());
    report.add_held_blocks(kBlocks * (i + 1) / membership.shards_size());
  }
}

}  // namespace

v1::TrainerReport NewTrainer(const std::string& name, int incarnation, const std::string& job_uid,
                             const std::string& secret) {
  v1::TrainerReport report;
  report.set_trainer(absl::StrCat(name, "/", incarnation));
  report.set_node(NodeOf(report.trainer()));
  report.set_job_uid(job_uid);
  report.set_job_secret(secret);
  report.set_protocol_version(common::kProtocolVersion);
  report.set_address(absl::StrCat(report.node(), ":4", incarnation));
  report.set_host(report.node());
  report.set_data_fingerprint("data");
  report.set_probe_digest("probe");
  report.set_wait_ms(10'000);
  report.set_phase(v1::TRAINER_READY);
  return report;
}

std::vector<std::string> SetFields(const ScenarioOptions& options, v1::TrainerReport& report) {
  std::vector<std::string> errors;
  for (const auto& [key, value] : options) {
    if (key == "phase") {
      v1::TrainerPhase phase = v1::TRAINER_READY;
      if (!v1::TrainerPhase_Parse("TRAINER_" + value, &phase))
        errors.push_back(absl::StrCat("error: no phase ", value));
      report.set_phase(phase);
    } else if (key == "state")
      report.set_has_state(ToInt(value) != 0);
    else if (key == "generation")
      report.set_generation(ToInt(value));
    else if (key == "step")
      report.set_step(ToInt(value));
    else if (key == "store_error") {
      std::string words = value;
      std::replace(words.begin(), words.end(), '_', ' ');
      report.set_checkpoint_error(value == "no" ? "" : words);
      if (value != "no") report.set_checkpoints_failed(report.checkpoints_failed() + 1);
    } else if (key == "store_unseen")
      report.set_store_unseen(ToInt(value) != 0);
    else if (key == "prepared")
      report.set_prepared(ToInt(value) != 0);
    else if (key == "attempt")
      report.set_attempt(ToInt(value));
    else if (key == "completed")
      report.set_completed_step(ToInt(value));
    else if (key == "computed")
      report.set_computed(ToInt(value));
    else if (key == "seconds")
      report.set_micro_batch_seconds(ToDouble(value));
    else if (key == "data")
      report.set_data_fingerprint(value);
    else if (key == "probe")
      report.set_probe_digest(value);
    else if (key == "secret")
      report.set_job_secret(value);
    else if (key == "version")
      report.set_protocol_version(ToInt(value));
    else if (key == "micro_batch")
      report.set_micro_batch(ToInt(value));
    else if (key == "epoch_steps")
      report.set_epoch_steps(ToDouble(value));
    else if (key == "out_of_memory")
      report.set_out_of_memory(value);
    else if (key == "because")
      report.set_micro_batch_reason(value);
    else if (key == "digest")
      report.set_state_digest(value);
    else if (key == "error")
      report.set_error(value);
    else if (key == "jobs_fault")
      report.set_error_is_jobs_fault(ToInt(value) != 0);
    else if (key == "interval")
      report.set_checkpoint_interval_seconds(ToDouble(value));
    else if (key == "why")
      report.set_checkpoint_interval_reason(value);
    else if (key == "stop")
      report.set_stop_reason(value);
    else if (key == "lever") {
      v1::LeverStatus& lever = *(report.levers_size() > 0 ? report.mutable_levers(0) : report.add_levers());
      lever.set_lever(value);
      lever.set_step(report.step());
      lever.set_text(absl::StrCat("what-", value, "-did-at-", report.step()));
    } else if (key == "assigned") {  // "3-7": what the ranks have cut anew.
      const std::vector<std::string> ends = absl::StrSplit(value, '-');
      report.clear_assigned();
      for (int i = ToInt(ends[0]); i <= ToInt(ends.back()); ++i) report.add_assigned(i);
    } else if (key == "straggler") {  // At what; "no": not any more.
      report.set_straggler_cause(value == "no" ? "" : value);
      report.set_straggler(absl::StrCat(ShortName(report.trainer()), " is slow at ", value));
    } else if (key == "flush")
      report.set_flush(value);
    else if (key == "store_generation")
      report.set_store_generation(ToInt(value));
    else if (key == "restorable") {  // "none": it finds none any more.
      report.clear_restorable();
      if (value != "none") SetCheckpoint(value, report.mutable_restorable());
      report.set_restorable_durable(Get(options, "durable", "1") == "1");
      report.clear_missing_checkpoint();
    } else if (key == "durable")  // With restorable: in the store; else in memory alone.
      continue;
    else if (key == "verified")
      report.set_restorable_verified(ToInt(value) != 0);
    else if (key == "missing") {
      report.set_missing_checkpoint(value);
      report.set_missing_reason("its manifest is not there");
    } else if (key == "damaged") {
      v1::DamagedCheckpoint* damaged = report.add_damaged();
      SetCheckpoint(value, damaged->mutable_checkpoint());
      damaged->set_reason("shard 0 of 1 is damaged");
    } else if (key == "committed")
      SetCheckpoint(value, report.mutable_committed());
    else if (key == "accuse") {
      report.clear_accusations();
      for (const std::string& one : std::vector<std::string>(absl::StrSplit(value, ','))) {
        const std::vector<std::string> parts = absl::StrSplit(one, ':');
        v1::Accusation* accusation = report.add_accusations();
        accusation->set_trainer(parts[0]);
        accusation->set_kind(ToKind(parts.back()));
      }
    } else if (key == "told") {  // "no", or what another coordinator, or nobody, would have told it.
      v1::Membership& told = *report.mutable_membership();
      told.set_reason(value);
      if (value == "other") told.set_digest(DigestOf(told));
      if (value == "no") report.clear_membership();
    } else if (key != "incarnation") {
      errors.push_back(absl::StrCat("error: no field ", key));
    }
  }
  return errors;
}

void FollowDirective(const v1::TrainerDirective& directive, v1::TrainerReport& report) {
  const v1::Membership& membership = directive.membership();
  const bool steps =
      directive.action() == v1::TrainerDirective::RUN || directive.action() == v1::TrainerDirective::YIELD;
  if (steps && report.generation() != membership.generation()) {
    report.set_phase(v1::TRAINER_RUNNING);
    report.set_generation(membership.generation());
    *report.mutable_membership() = membership;
    report.set_has_state(true);
    report.set_step(membership.step());
    report.set_completed_step(std::min(report.completed_step(), membership.step()));
    report.set_attempt(membership.attempt());
    report.clear_accusations();
    report.clear_out_of_memory();
    if (report.micro_batch() > 0) report.set_micro_batch(membership.micro_batch());
    HoldShards(membership, report);
    AssignRange(membership, false, report);
  } else if (directive.action() == v1::TrainerDirective::YIELD && report.phase() == v1::TRAINER_RUNNING) {
    report.set_phase(v1::TRAINER_QUIESCED);
    report.clear_assigned();
  } else if (directive.action() == v1::TrainerDirective::WAIT && directive.has_membership()) {
    report.set_phase(v1::TRAINER_READY);
    report.clear_assigned();
  }
}

void CompleteSteps(const v1::Membership& membership, int count, v1::TrainerReport& report) {
  report.set_step(report.step() + count);
  report.set_completed_step(report.step());
  report.set_step_seconds(0.5);
  if (report.micro_batch_seconds() <= 0) report.set_micro_batch_seconds(0.1);
  AssignRange(membership, true, report);
}

void AssignRange(const v1::Membership& membership, bool whole, v1::TrainerReport& report) {
  report.clear_assigned();
  for (const v1::Member& member : membership.members()) {
    if (member.trainer() != report.trainer()) continue;
    if (!whole && membership.interrupted()) {
      for (int i : member.holds()) report.add_assigned(i);
      for (int i : member.adds()) report.add_assigned(i);
    } else {
      for (int i = member.begin(); i < member.end(); ++i) report.add_assigned(i);
    }
  }
}

}  // namespace rekindle::core
