#include "coordinator/core/scenario/scenario.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "coordinator/core/scenario/scenario_node.h"
#include "coordinator/core/scenario/scenario_trainer.h"
#include "coordinator/core/state/text.h"
#include "coordinator/core/testing/status_check.h"

namespace rekindle::core {
namespace {

constexpr char kSecret[] = "secret";
// An agent whose claim to its node's name is not decided yet calls again after this many seconds.
constexpr double kCallSeconds = 0.1;

void SetTraining(const ScenarioOptions& options, v1::JobSpec::Training* training) {
  training->set_global_batch(ToInt(Get(options, "micro_batches", "6")));
  // With the option micro_batch=auto, the spec gets the size 0, which means that the job finds the size by itself.
  // ToInt reads the word "auto" as 0.
  training->set_micro_batch(ToInt(Get(options, "micro_batch", "1")));
  training->set_steps(ToInt(Get(options, "steps", "100")));
  training->set_reduce(Get(options, "reduce", "exact"));
  if (options.count("first_epoch")) training->set_first_epoch(options.at("first_epoch"));
  if (options.count("smoke")) training->set_smoke_test(true);
  training->set_precision(Get(options, "precision", "fp32"));
  training->set_optimizer_state(Get(options, "optimizer_state", "whole"));
}

}  // namespace

Scenario::Command Scenario::Parse(const std::string& line) {
  Command command;
  for (const std::string& word : std::vector<std::string>(absl::StrSplit(line, ' ', absl::SkipEmpty()))) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      command.words.push_back(word);
    } else {
      command.options[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  return command;
}

std::vector<std::string> Scenario::Run(const std::string& line) {
  const Command command = Parse(line);
  const auto handler = Handlers().find(command.Word(0));
  if (handler == Handlers().end()) {
    Trainers(command);
  } else {
    handler->second(*this, command);
  }
  ShowDirectives();
  return coordinator_.TakeSaid();
}

std::vector<std::string> Scenario::Untruths() const {
  std::vector<std::string> untruths;
  for (const v1::JobRecord* record : coordinator_.cluster().Jobs()) {
    const std::string untruth = simulation::FindUntruth(*record);
    if (!untruth.empty()) untruths.push_back(untruth);
  }
  return untruths;
}

std::vector<std::string> Scenario::Names(const std::string& word) const {
  if (word != "all") return absl::StrSplit(word, ',');
  std::vector<std::string> names;
  for (const auto& [name, report] : trainers_) names.push_back(name);
  return names;
}

v1::TrainerDirective Scenario::DirectiveFor(const v1::TrainerReport& report) const {
  return coordinator_.cluster().DirectiveForTrainer(report.job_uid(), report.trainer());
}

std::string Scenario::JobAt(const std::string& slot) const {
  const v1::NodeDirective directive = coordinator_.cluster().DirectiveForNode(NodeOf(slot + "/1"));
  for (const v1::DesiredTrainer& desired : directive.trainers()) {
    if (desired.slot() == SlotOf(slot + "/1")) return desired.job_uid();
  }
  return uid_;
}

void Scenario::Submit(const Command& command) {
  const ScenarioOptions& options = command.options;
  const std::string name = command.Word(1);
  SubmitJob submit;
  v1::Job* job = submit.record.mutable_job();
  job->set_name(name);
  job->set_uid(Get(options, "uid", name + "-uid"));
  submit.record.set_secret(kSecret);
  v1::JobSpec* spec = job->mutable_status()->mutable_resolved_spec();
  SetTraining(options, spec->mutable_training());
  spec->mutable_checkpoint()->set_store(Get(options, "store", ""));
  spec->mutable_data()->set_fingerprint(Get(options, "fingerprint", ""));
  if (options.count("every_steps")) spec->mutable_checkpoint()->set_every_steps(ToInt(options.at("every_steps")));
  spec->mutable_workers()->set_min(ToInt(Get(options, "min", "1")));
  spec->mutable_workers()->set_max(ToInt(Get(options, "max", "0")));
  spec->mutable_workers()->set_device(Get(options, "device", ""));
  if (options.count("python")) spec->mutable_model()->set_python(options.at("python"));
  if (options.count("interpreter")) spec->mutable_model()->set_interpreter(options.at("interpreter"));
  SetGoals(options, spec);
  job->mutable_status()->set_submitted_at(coordinator_.unix_now());
  uid_ = job->uid();
  v1::DesiredTrainer& wanted = wanted_[uid_];
  wanted.set_job_uid(uid_);
  wanted.set_job_name(name);
  wanted.set_job_secret(kSecret);
  *wanted.mutable_spec() = *spec;
  coordinator_.Feed(submit);
}

void Scenario::Node(const Command& command) {
  const std::string name = command.Word(1), what = command.Word(2);
  const std::string key = MachineKey(name, command.options);
  v1::NodeReport& report = nodes_[key];
  SetNodeFields(name, key, command.options, report);
  if (what == "exit") {
    const auto trainer = trainers_.find(command.Word(3));
    AddExit(trainer == trainers_.end() ? v1::TrainerReport() : trainer->second, ToInt(command.Word(4)), command.options,
            report);
    if (trainer != trainers_.end()) trainers_.erase(trainer);
  }
  ChangeNode(what, command.options, report);
  // The trainers that ran on the node's earlier machine do not run on the new one.
  const bool is_new = IsNewMachine(what);
  std::vector<const v1::TrainerReport*> running;
  for (const auto& [other, trainer] : trainers_) {
    if (trainer.node() == name && key == name && !is_new) running.push_back(&trainer);
  }
  ListRunning(running, report);
  AnswerDirective(name, report);
  if (Get(command.options, "told", "") == "no") report.clear_known_revision();
  coordinator_.Feed(NodeReported{report, command.options.count("alone") > 0});
  // The node's earlier machine is gone, so the new one reports until it has the node's name.
  while (is_new && !coordinator_.cluster().RivalOf(name, report.agent_incarnation()).empty()) {
    coordinator_.Tick(kCallSeconds);
    coordinator_.Feed(NodeReported{report, true});
  }
}

void Scenario::AnswerDirective(const std::string& node, v1::NodeReport& report) const {
  const v1::NodeDirective told = coordinator_.cluster().DirectiveForAgent(node, report.agent_incarnation());
  report.set_known_revision(told.revision());
  report.clear_left_alone();
  for (const std::string& uid : told.leave_alone()) *report.add_left_alone() = wanted_.at(uid);
  report.clear_stored_jobs();
  for (const std::string& uid : told.read_stored()) *report.add_stored_jobs() = coordinator_.StoredOf(uid);
  report.clear_absent_trainers();
  for (const v1::SoughtTrainer& sought : told.look_for()) {
    const auto at = trainers_.find(ShortName(sought.trainer()));
    if (at == trainers_.end() || at->second.trainer() != sought.trainer()) report.add_absent_trainers(sought.trainer());
  }
}

void Scenario::Trainers(const Command& command) {
  for (const std::string& trainer : Names(command.Word(1))) Trainer(trainer, command);
}

void Scenario::Trainer(const std::string& name, const Command& command) {
  const std::string what = command.Word(0);
  if (what == "trainer") {
    const int incarnation = ToInt(Get(command.options, "incarnation", "1"));
    trainers_[name] = NewTrainer(name, incarnation, JobAt(name), kSecret);
    const auto node = nodes_.find(trainers_[name].node());
    if (node != nodes_.end()) {
      trainers_[name].mutable_process()->set_pid(1);
      *trainers_[name].mutable_process()->mutable_machine() = node->second.machine();
    }
  } else if (!trainers_.count(name)) {
    return Say(absl::StrCat("error: no trainer ", name));
  } else if (what == "follow") {
    FollowDirective(DirectiveFor(trainers_[name]), trainers_[name]);
  } else if (what == "interrupt") {
    trainers_[name].set_phase(v1::TRAINER_INTERRUPTED);
  } else if (what == "steps") {
    CompleteSteps(DirectiveFor(trainers_[name]).membership(), ToInt(command.Word(2)), trainers_[name]);
  } else if (what != "report") {
    return Say(absl::StrCat("error: no command ", what));
  }
  v1::TrainerReport& report = trainers_[name];
  for (const std::string& error : SetFields(command.options, report)) Say(error);
  const int64_t look = DirectiveFor(report).look();
  report.clear_stored_job_file();
  if (look > report.looked() && report.checkpoint_error().empty()) {
    report.set_looked(look);
    report.set_stored_job_file(coordinator_.StoredOf(report.job_uid()).job_file());
  }
  Report(name);
}

void Scenario::Vanish(const Command& command) {
  if (nodes_.erase(command.Word(1)) > 0) return;
  for (const std::string& name : Names(command.Word(1))) {
    if (trainers_.erase(name) == 0) Say(absl::StrCat("error: no trainer ", name));
  }
}

void Scenario::Report(const std::string& name) {
  v1::TrainerReport& report = trainers_[name];
  report.set_sequence(report.sequence() + 1);
  coordinator_.Feed(TrainerReported{report});
}

void Scenario::Live(double seconds) {
  constexpr double kBeat = 5;
  for (double left = seconds; left > 0; left -= kBeat) {
    coordinator_.Tick(std::min(kBeat, left));
    for (const auto& [name, report] : nodes_) coordinator_.Feed(NodeReported{report});
    for (const auto& [name, report] : trainers_) Report(name);
  }
}

void Scenario::Restart(const Command& command) {
  shown_.clear();
  coordinator_.Restart(command.options);
}

void Scenario::ShowCosts() {
  for (const std::string& cost : DescribeCost(FindJob()->job().status().cost())) Say(cost);
}

void Scenario::ShowNeverRegistered() {
  for (const auto& [name, pool] : coordinator_.saved_pools()) Say(DescribeNeverRegistered(pool));
}

void Scenario::ShowGrant() {
  const double until = FindJob()->granted_until();
  Say(until > 0 ? absl::StrFormat("may spend for %.0f s without word", until - coordinator_.unix_now())
                : "may spend without end");
}

void Scenario::ShowStatus() {
  const v1::JobRecord* record = FindJob();
  if (record == nullptr) return Say("no job");
  const v1::JobStatus& status = record->job().status();
  Say(absl::StrCat(v1::JobState_Name(status.state()), ", generation ", status.generation(), ", step ", status.step(),
                   ": ", status.reason()));
  for (const v1::Fault& fault : status.faults()) {
    Say(absl::StrFormat("fault %s: pause %.2f s, steps redone %d, micro-batches redone %d: %s", fault.kind(),
                        fault.pause_seconds(), fault.steps_redone(), fault.micro_batches_redone(), fault.reason()));
  }
  for (const v1::Node& node : coordinator_.cluster().Nodes(coordinator_.now())) {
    Say(absl::StrCat("node ", node.name(), " is ", node.state()));
  }
}

void Scenario::ShowMembers() {
  const v1::JobRecord* record = FindJob();
  if (record == nullptr) return Say("no job");
  for (const v1::MemberStatus& member : record->job().status().members()) {
    const std::string slow = member.straggler().empty() ? "" : absl::StrCat(", slow at ", member.straggler());
    const std::string note = member.note().empty() ? "" : absl::StrCat(", ", member.note());
    Say(absl::StrCat(member.trainer(), " computes [", member.micro_batch_begin(), ",", member.micro_batch_end(), ")",
                     slow, note));
  }
}

void Scenario::ShowDirectives() {
  const Cluster& cluster = coordinator_.cluster();
  // Nobody is told anything while the cluster listens.
  if (cluster.IsListening()) return;
  for (auto& [name, report] : trainers_) {
    const v1::TrainerDirective directive = DirectiveFor(report);
    report.set_known_revision(directive.revision());
    Show(name, absl::StrCat(report.trainer(), " <- ", DescribeDirective(directive)));
  }
  for (const auto& [name, report] : nodes_) {
    const v1::NodeDirective directive = cluster.DirectiveForAgent(report.node(), report.agent_incarnation());
    Show(name, absl::StrCat(name, " <- ", DescribeDirective(directive)));
  }
}

void Scenario::Show(const std::string& name, const std::string& directive) {
  std::string& shown = shown_[name];
  if (shown != directive) Say(directive);
  shown = directive;
}

}  // namespace rekindle::core
