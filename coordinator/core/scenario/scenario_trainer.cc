#include "coordinator/core/scenario/scenario_trainer.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/agreed/version.h"
#include "coordinator/core/formation/membership_builder.h"
#include "coordinator/core/state/text.h"

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

// Lets the trainer report the blocks of the shards that it holds as a member, merged and in order.
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

// A Field is an option of a command that sets a part of the trainer's report. The functions that take a Field return an
// error, or an empty string.
struct Field {
  const std::string& value;
  const ScenarioOptions& options;
  v1::TrainerReport& report;
};

// SetNumber, SetFlag, SetReal and SetText each set one field of a trainer's report to the value of an option.
template <auto kSet>
std::string SetNumber(const Field& to) {
  (to.report.*kSet)(ToInt(to.value));
  return "";
}
template <auto kSet>
std::string SetFlag(const Field& to) {
  (to.report.*kSet)(ToInt(to.value) != 0);
  return "";
}
template <auto kSet>
std::string SetReal(const Field& to) {
  (to.report.*kSet)(ToDouble(to.value));
  return "";
}
template <auto kField>
std::string SetText(const Field& to) {
  *(to.report.*kField)() = to.value;
  return "";
}

std::string SetPhase(const Field& to) {
  v1::TrainerPhase phase = v1::TRAINER_READY;
  const bool is_known = v1::TrainerPhase_Parse("TRAINER_" + to.value, &phase);
  to.report.set_phase(phase);
  return is_known ? "" : absl::StrCat("no phase ", to.value);
}

std::string SetStoreError(const Field& to) {
  std::string words = to.value;
  std::replace(words.begin(), words.end(), '_', ' ');
  to.report.set_checkpoint_error(to.value == "no" ? "" : words);
  if (to.value != "no") to.report.set_checkpoints_failed(to.report.checkpoints_failed() + 1);
  return "";
}

std::string SetLever(const Field& to) {
  v1::LeverStatus& lever = *(to.report.levers_size() > 0 ? to.report.mutable_levers(0) : to.report.add_levers());
  lever.set_lever(to.value);
  lever.set_step(to.report.step());
  lever.set_text(absl::StrCat("what-", to.value, "-did-at-", to.report.step()));
  return "";
}

// The option "assigned" gives the range of micro-batches that the ranks have cut for the trainer: "3-7", for example,
// names the first and last of them.
std::string SetAssigned(const Field& to) {
  const std::vector<std::string> ends = absl::StrSplit(to.value, '-');
  to.report.clear_assigned();
  for (int i = ToInt(ends[0]); i <= ToInt(ends.back()); ++i) to.report.add_assigned(i);
  return "";
}

// The option "straggler" says at what the trainer is slow. Its value "no" says that the trainer is not slow any more.
std::string SetStraggler(const Field& to) {
  to.report.set_straggler_cause(to.value == "no" ? "" : to.value);
  to.report.set_straggler(absl::StrCat(ShortName(to.report.trainer()), " is slow at ", to.value));
  return "";
}

// The option "note" is what the trainer's model does beside its work. Its value "no" says that the model works.
std::string SetNote(const Field& to) {
  to.report.set_note(to.value == "no" ? "" : to.value);
  return "";
}

// The option "restorable" names the checkpoint that the trainer finds. Its value "none" says that the trainer finds no
// checkpoint any more. The option "durable" says that the checkpoint is in the store, and not in memory alone.
std::string SetRestorable(const Field& to) {
  to.report.clear_restorable();
  if (to.value != "none") SetCheckpoint(to.value, to.report.mutable_restorable());
  to.report.set_restorable_durable(Get(to.options, "durable", "1") == "1");
  to.report.clear_missing_checkpoint();
  return "";
}

std::string SetMissing(const Field& to) {
  to.report.set_missing_checkpoint(to.value);
  to.report.set_missing_reason("its manifest is not there");
  return "";
}

std::string SetDamaged(const Field& to) {
  v1::DamagedCheckpoint* damaged = to.report.add_damaged();
  SetCheckpoint(to.value, damaged->mutable_checkpoint());
  damaged->set_reason("shard 0 of 1 is damaged");
  return "";
}

std::string SetCommitted(const Field& to) {
  SetCheckpoint(to.value, to.report.mutable_committed());
  return "";
}

std::string SetAccusations(const Field& to) {
  to.report.clear_accusations();
  for (const std::string& one : std::vector<std::string>(absl::StrSplit(to.value, ','))) {
    const std::vector<std::string> parts = absl::StrSplit(one, ':');
    v1::Accusation* accusation = to.report.add_accusations();
    accusation->set_trainer(parts[0]);
    accusation->set_kind(ToKind(parts.back()));
  }
  return "";
}

// The option "told" says which membership the trainer reports. With "no" it reports none, with "other" it reports one
// that another coordinator would have told it, and with any other value one that nobody would have told it.
std::string SetTold(const Field& to) {
  v1::Membership& told = *to.report.mutable_membership();
  told.set_reason(to.value);
  if (to.value == "other") told.set_digest(DigestOf(told));
  if (to.value == "no") to.report.clear_membership();
  return "";
}

// The option "nccl" gives the version of NCCL that the trainer has. Its value "failed" says that NCCL has failed, and
// "left" that it has and that the trainer's process does not use it any more.
std::string SetNccl(const Field& to) {
  v1::TrainerDevice* device = to.report.mutable_device();
  const bool is_left = to.value == "left", failed = is_left || to.value == "failed";
  device->set_nccl_failed(failed);
  if (is_left) device->set_nccl_left(true);
  if (!failed) device->set_nccl_version(ToInt(to.value));
  return "";
}

std::string SetGpu(const Field& to) {
  to.report.mutable_device()->set_uuid(to.value);
  return "";
}

std::string SetNothing(const Field&) { return ""; }

using SetField = std::string (*)(const Field& to);
const std::map<std::string, SetField> kFields = {
    {"accuse", SetAccusations},
    {"assigned", SetAssigned},
    {"attempt", SetNumber<&v1::TrainerReport::set_attempt>},
    {"because", SetText<&v1::TrainerReport::mutable_micro_batch_reason>},
    {"committed", SetCommitted},
    {"completed", SetNumber<&v1::TrainerReport::set_completed_step>},
    {"computed", SetNumber<&v1::TrainerReport::set_computed>},
    {"damaged", SetDamaged},
    {"data", SetText<&v1::TrainerReport::mutable_data_fingerprint>},
    {"digest", SetText<&v1::TrainerReport::mutable_state_digest>},
    {"durable", SetNothing},
    {"epoch_steps", SetReal<&v1::TrainerReport::set_epoch_steps>},
    {"error", SetText<&v1::TrainerReport::mutable_error>},
    {"flush", SetText<&v1::TrainerReport::mutable_flush>},
    {"generation", SetNumber<&v1::TrainerReport::set_generation>},
    {"gpu", SetGpu},
    {"incarnation", SetNothing},
    {"interval", SetReal<&v1::TrainerReport::set_checkpoint_interval_seconds>},
    {"jobs_fault", SetFlag<&v1::TrainerReport::set_error_is_jobs_fault>},
    {"lever", SetLever},
    {"micro_batch", SetNumber<&v1::TrainerReport::set_micro_batch>},
    {"missing", SetMissing},
    {"nccl", SetNccl},
    {"note", SetNote},
    {"out_of_memory", SetText<&v1::TrainerReport::mutable_out_of_memory>},
    {"phase", SetPhase},
    {"prepared", SetFlag<&v1::TrainerReport::set_prepared>},
    {"probe", SetText<&v1::TrainerReport::mutable_probe_digest>},
    {"restorable", SetRestorable},
    {"seconds", SetReal<&v1::TrainerReport::set_micro_batch_seconds>},
    {"secret", SetText<&v1::TrainerReport::mutable_job_secret>},
    {"state", SetFlag<&v1::TrainerReport::set_has_state>},
    {"step", SetNumber<&v1::TrainerReport::set_step>},
    {"stop", SetText<&v1::TrainerReport::mutable_stop_reason>},
    {"store_error", SetStoreError},
    {"store_generation", SetNumber<&v1::TrainerReport::set_store_generation>},
    {"store_unseen", SetFlag<&v1::TrainerReport::set_store_unseen>},
    {"straggler", SetStraggler},
    {"told", SetTold},
    {"verified", SetFlag<&v1::TrainerReport::set_restorable_verified>},
    {"version", SetNumber<&v1::TrainerReport::set_protocol_version>},
    {"why", SetText<&v1::TrainerReport::mutable_checkpoint_interval_reason>},
};

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
    const auto field = kFields.find(key);
    const std::string error =
        field == kFields.end() ? absl::StrCat("no field ", key) : field->second({value, options, report});
    if (!error.empty()) errors.push_back("error: " + error);
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
    if (report.has_device()) report.mutable_device()->set_nccl_failed(false);
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
