#include "coordinator/core/scenario.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "common/version.h"
#include "coordinator/core/scenario_text.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

constexpr char kSecret[] = "secret";

std::string Get(const std::map<std::string, std::string>& options, const std::string& key, const std::string& other) {
  const auto it = options.find(key);
  return it == options.end() ? other : it->second;
}

int ToInt(const std::string& text) {
  int value = 0;
  return absl::SimpleAtoi(text, &value) ? value : 0;
}

double ToDouble(const std::string& text) {
  double value = 0;
  return absl::SimpleAtod(text, &value) ? value : 0;
}

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

void AssignRange(const v1::Membership& membership, v1::TrainerReport& report, bool whole) {
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

}  // namespace

Scenario::Scenario() : cluster_(std::make_unique<Cluster>()) { Feed(Restored{}); }

std::vector<std::string> Scenario::Run(const std::string& line) {
  said_.clear();
  Words words;
  Options options;
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(line, ' ', absl::SkipEmpty()))) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      words.push_back(word);
    } else {
      options[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  const std::string command = words[0], name = words.size() > 1 ? words[1] : "";
  if (command == "submit")
    Submit(name, options);
  else if (command == "node")
    Node(words, options);
  else if (command == "tick")
    Tick(ToDouble(name));
  else if (command == "restart")
    Restart(ToDouble(Get(options, "away", "0")));
  else if (command == "drain")
    Feed(DrainNode{name, ToDouble(Get(options, "within", "0")), Get(options, "reason", "")});
  else if (command == "pause")
    Feed(PauseJob{uid_});
  else if (command == "resume")
    Feed(ResumeJob{uid_});
  else if (command == "cancel")
    Feed(CancelJob{uid_});
  else if (command == "status")
    ShowStatus();
  else if (command == "members")
    ShowMembers();
  else {
    for (const std::string& trainer : Names(name)) Trainer(trainer, words, options);
  }
  ShowDirectives();
  return said_;
}

std::vector<std::string> Scenario::Names(const std::string& word) const {
  if (word != "all") return absl::StrSplit(word, ',');
  std::vector<std::string> names;
  for (const auto& [name, report] : trainers_) names.push_back(name);
  return names;
}

void Scenario::Feed(const Event& event) {
  const Effects effects = cluster_->Step(event, now_);
  wake_at_ = effects.wake_at;
  if (!effects.status.ok()) Say(absl::StrCat("refused: ", std::string(effects.status.message())));
  for (const v1::NodeRecord& node : effects.save_nodes) saved_nodes_[node.name()] = node;
  for (const v1::JobRecord& job : effects.save_jobs) {
    v1::JobRecord& before = saved_jobs_[job.job().uid()];
    if (before.membership().generation() != job.membership().generation()) {
      for (const std::string& line : DescribeMembership(job.membership())) Say(line);
    }
    before = job;
  }
  for (const v1::Event& e : effects.events) Say(absl::StrCat(e.kind(), ": ", e.text()));
}

void Scenario::Submit(const std::string& name, const Options& options) {
  SubmitJob submit;
  v1::Job* job = submit.record.mutable_job();
  job->set_name(name);
  job->set_uid(name + "-uid");
  submit.record.set_secret(kSecret);
  v1::JobSpec* spec = job->mutable_status()->mutable_resolved_spec();
  spec->mutable_training()->set_global_batch(ToInt(Get(options, "micro_batches", "6")));
  spec->mutable_training()->set_micro_batch(ToInt(Get(options, "micro_batch", "1")));  // "auto" is 0.
  spec->mutable_training()->set_steps(ToInt(Get(options, "steps", "100")));
  spec->mutable_training()->set_reduce(Get(options, "reduce", "exact"));
  if (options.count("smoke")) spec->mutable_training()->set_smoke_test(true);
  spec->mutable_training()->set_precision(Get(options, "precision", "fp32"));
  spec->mutable_checkpoint()->set_store(Get(options, "store", ""));
  spec->mutable_workers()->set_min(ToInt(Get(options, "min", "1")));
  spec->mutable_workers()->set_max(ToInt(Get(options, "max", "0")));
  uid_ = job->uid();
  Feed(submit);
}

void Scenario::Node(const Words& words, const Options& options) {
  const std::string& name = words[1];
  v1::NodeReport& report = nodes_[name];
  report.set_node(name);
  if (report.incarnation().empty()) report.set_incarnation("i1");
  if (report.agent_incarnation().empty()) report.set_agent_incarnation("a1");
  report.set_protocol_version(ToInt(Get(options, "version", std::to_string(common::kProtocolVersion))));
  report.set_slots(ToInt(Get(options, "slots", std::to_string(std::max(1, report.slots())))));
  report.set_wait_ms(1000);
  if (options.count("memory")) report.mutable_device()->set_memory_bytes(ToDouble(options.at("memory")) * 1e9);
  if (options.count("units")) {
    report.mutable_device()->set_kind("cpu");
    for (const std::string& unit : std::vector<std::string>(absl::StrSplit(options.at("units"), ','))) {
      report.mutable_device()->add_units(unit);
    }
  }
  const std::string what = words.size() > 2 ? words[2] : "up";
  if (what == "exit") {
    v1::TrainerReport& trainer = trainers_[words[3]];
    v1::TrainerProcess* process = report.add_trainers();
    process->set_trainer(trainer.trainer());
    process->set_job_uid(uid_);
    process->set_slot(SlotOf(trainer.trainer()));
    process->set_exit_code(ToInt(words[4]));
    process->set_out_of_memory(options.count("out_of_memory") > 0);
    trainers_.erase(words[3]);
  } else if (what == "replaced" || what == "restarted") {
    if (what == "replaced") report.set_incarnation(report.incarnation() + "+");
    report.set_agent_incarnation(report.agent_incarnation() + "+");
    report.clear_draining();
    report.clear_trainers();
  } else if (what == "draining") {
    report.set_draining(true);
    report.set_drain_within_seconds(ToDouble(Get(options, "within", "0")));
    report.set_drain_reason(Get(options, "reason", "SIGTERM"));
  } else if (what == "withdrawn") {
    report.clear_draining();
    report.clear_drain_within_seconds();
    report.clear_drain_reason();
    report.clear_hint();
  } else if (what == "hint") {
    report.set_hint(Get(options, "reason", "rebalance"));
  }
  auto* processes = report.mutable_trainers();
  processes->erase(std::remove_if(processes->begin(), processes->end(), [](const auto& p) { return p.running(); }),
                   processes->end());
  for (const auto& [other, trainer] : trainers_) {
    if (trainer.node() != name) continue;
    v1::TrainerProcess* process = report.add_trainers();
    process->set_trainer(trainer.trainer());
    process->set_job_uid(trainer.job_uid());
    process->set_slot(SlotOf(trainer.trainer()));
    process->set_running(true);
  }
  if (options.count("checkpoint")) report.set_checkpoint_incarnation(options.at("checkpoint"));
  Feed(NodeReported{report});
}

void Scenario::Trainer(const std::string& name, const Words& words, const Options& options) {
  const std::string& command = words[0];
  if (command == "trainer") {  // A new process.
    const int incarnation = ToInt(Get(options, "incarnation", "1"));
    v1::TrainerReport& report = trainers_[name];
    report = {};
    report.set_trainer(absl::StrCat(name, "/", incarnation));
    report.set_node(NodeOf(report.trainer()));
    report.set_job_uid(uid_);
    report.set_job_secret(kSecret);
    report.set_protocol_version(common::kProtocolVersion);
    report.set_address(absl::StrCat(report.node(), ":4", incarnation));
    report.set_host(report.node());
    report.set_data_fingerprint("data");
    report.set_probe_digest("probe");
    report.set_wait_ms(10'000);
    report.set_phase(v1::TRAINER_READY);
  } else if (!trainers_.count(name)) {
    return Say(absl::StrCat("error: no trainer ", name));
  } else if (command == "follow") {
    Follow(name);
  } else if (command == "interrupt") {
    Interrupt(name);
  } else if (command == "steps") {
    Steps(name, ToInt(words[2]));
  } else if (command == "vanish") {  // Without a word.
    trainers_.erase(name);
    return;
  } else if (command != "report") {
    return Say(absl::StrCat("error: no command ", command));
  }
  Set(name, options);
  Report(name);
}

void Scenario::Set(const std::string& name, const Options& options) {
  v1::TrainerReport& report = trainers_[name];
  for (const auto& [key, value] : options) {
    if (key == "phase") {
      v1::TrainerPhase phase = v1::TRAINER_READY;
      if (!v1::TrainerPhase_Parse("TRAINER_" + value, &phase)) Say(absl::StrCat("error: no phase ", value));
      report.set_phase(phase);
    } else if (key == "state")
      report.set_has_state(ToInt(value) != 0);
    else if (key == "generation")
      report.set_generation(ToInt(value));
    else if (key == "step")
      report.set_step(ToInt(value));
    else if (key == "attempt")
      report.set_attempt(ToInt(value));
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
    else if (key == "restorable")
      SetCheckpoint(value, report.mutable_restorable());
    else if (key == "committed")
      SetCheckpoint(value, report.mutable_committed());
    else if (key == "accuse") {
      report.clear_accusations();
      for (const std::string& one : std::vector<std::string>(absl::StrSplit(value, ','))) {
        const std::vector<std::string> parts = absl::StrSplit(one, ':');
        v1::Accusation* accusation = report.add_accusations();
        accusation->set_trainer(parts[0]);
        accusation->set_kind(ToKind(parts.back()));
      }
    } else if (key != "incarnation") {
      Say(absl::StrCat("error: no field ", key));
    }
  }
}

// Does what it was told, at once and without trouble.
void Scenario::Follow(const std::string& name) {
  v1::TrainerReport& report = trainers_[name];
  const v1::TrainerDirective directive = cluster_->DirectiveForTrainer(uid_, report.trainer());
  const v1::Membership& membership = directive.membership();
  if (directive.action() == v1::TrainerDirective::RUN && report.generation() != membership.generation()) {
    report.set_phase(v1::TRAINER_RUNNING);
    report.set_generation(membership.generation());
    report.set_has_state(true);
    report.set_step(membership.step());
    report.set_attempt(membership.attempt());
    report.clear_accusations();
    report.clear_out_of_memory();
    if (report.micro_batch() > 0) report.set_micro_batch(membership.micro_batch());
    AssignRange(membership, report, false);
  } else if (directive.action() == v1::TrainerDirective::YIELD && report.phase() == v1::TRAINER_RUNNING) {
    report.set_phase(v1::TRAINER_QUIESCED);
    report.clear_assigned();
  } else if (directive.action() == v1::TrainerDirective::WAIT && directive.has_membership()) {
    report.set_phase(v1::TRAINER_READY);
    report.clear_assigned();
  }
}

void Scenario::Interrupt(const std::string& name) { trainers_[name].set_phase(v1::TRAINER_INTERRUPTED); }

void Scenario::Steps(const std::string& name, int count) {
  v1::TrainerReport& report = trainers_[name];
  report.set_step(report.step() + count);
  report.set_completed_step(report.step());
  report.set_step_seconds(0.5);
  if (report.micro_batch_seconds() <= 0) report.set_micro_batch_seconds(0.1);
  AssignRange(cluster_->DirectiveForTrainer(uid_, report.trainer()).membership(), report, true);
}

void Scenario::Report(const std::string& name) {
  v1::TrainerReport& report = trainers_[name];
  report.set_sequence(report.sequence() + 1);
  Feed(TrainerReported{report});
}

void Scenario::Tick(double seconds) {
  const double until = now_ + seconds;
  while (wake_at_ <= until) {
    now_ = std::max(now_, wake_at_);
    const double before = wake_at_;
    Feed(core::Tick{});
    if (wake_at_ <= before) now_ = std::max(now_, before + 0.001);
  }
  now_ = until;
}

void Scenario::Restart(double away) {
  now_ += away;
  cluster_ = std::make_unique<Cluster>();
  Restored restored;
  for (const auto& [uid, record] : saved_jobs_) restored.jobs.push_back(record);
  for (const auto& [name, record] : saved_nodes_) restored.nodes.push_back(record);
  shown_.clear();
  Feed(restored);
}

void Scenario::ShowStatus() {
  const v1::JobRecord* record = cluster_->FindJob(uid_);
  if (record == nullptr) return Say("no job");
  const v1::JobStatus& status = record->job().status();
  Say(absl::StrCat(v1::JobState_Name(status.state()), ", generation ", status.generation(), ", step ", status.step(),
                   ": ", status.reason()));
  for (const v1::Fault& fault : status.faults()) {
    Say(absl::StrFormat("fault %s: pause %.2f s, steps redone %d, micro-batches redone %d: %s", fault.kind(),
                        fault.pause_seconds(), fault.steps_redone(), fault.micro_batches_redone(), fault.reason()));
  }
  for (const v1::Node& node : cluster_->Nodes(now_)) Say(absl::StrCat("node ", node.name(), " is ", node.state()));
}

void Scenario::ShowMembers() {
  const v1::JobRecord* record = cluster_->FindJob(uid_);
  if (record == nullptr) return Say("no job");
  for (const v1::MemberStatus& member : record->job().status().members()) {
    const std::string slow = member.straggler().empty() ? "" : absl::StrCat(", slow at ", member.straggler());
    Say(absl::StrCat(member.trainer(), " computes [", member.micro_batch_begin(), ",", member.micro_batch_end(), ")",
                     slow));
  }
}

void Scenario::ShowDirectives() {
  for (auto& [name, report] : trainers_) {
    const v1::TrainerDirective directive = cluster_->DirectiveForTrainer(uid_, report.trainer());
    report.set_known_revision(directive.revision());
    const std::string line = absl::StrCat(report.trainer(), " <- ", DescribeDirective(directive));
    if (shown_[name] != line) Say(line);
    shown_[name] = line;
  }
  for (const auto& [name, report] : nodes_) {
    const std::string line = absl::StrCat(name, " <- ", DescribeDirective(cluster_->DirectiveForNode(name)));
    if (shown_[name] != line) Say(line);
    shown_[name] = line;
  }
}

}  // namespace rekindle::core
