#include "coordinator/core/scenario.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "common/version.h"
#include "coordinator/core/job_file.h"
#include "coordinator/core/recovered.h"
#include "coordinator/core/scenario_text.h"
#include "coordinator/core/scenario_trainer.h"
#include "coordinator/core/simulation/status_check.h"
#include "coordinator/core/text.h"

namespace rekindle::core {
namespace {

constexpr char kSecret[] = "secret";
constexpr double kCallSeconds = 0.1;  // Between two calls of an agent that awaits its node's name.
constexpr double kListenSeconds = 10;
constexpr char kCluster[] = "cluster-1";

}  // namespace

Scenario::Scenario() : cluster_(std::make_unique<Cluster>()) { Feed(Restored{.epoch = {epoch_, 0}}); }

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
  if (command == "restore") {
    saved_jobs_ = copied_jobs_;
    saved_nodes_ = copied_nodes_;
    ++epoch_;
    listens_until_ = now_ + kListenSeconds;
  }
  if (command == "recover") Recover(options);
  if (command == "submit")
    Submit(name, options);
  else if (command == "job")
    uid_ = name + "-uid";
  else if (command == "node")
    Node(words, options);
  else if (command == "tick")
    Tick(ToDouble(name));
  else if (command == "live")
    Live(ToDouble(name));
  else if (command == "vanish" && nodes_.count(name))
    nodes_.erase(name);
  else if (command == "stall" || command == "catch_up")  // Its database cannot be written, or can be again.
    Stall(command == "stall");
  else if (command == "backup")
    Backup();
  else if (command == "restart" || command == "restore" || command == "recover")  // From that copy, in another epoch.
    Restart(options);
  else if (command == "save")  // The job's store keeps what its record is now.
    SaveToStore(options);
  else if (command == "adopt")
    Feed(AdoptJob{uid_});
  else if (command == "drain")
    Feed(DrainNode{name, ToDouble(Get(options, "within", "0")), Get(options, "reason", "")});
  else if (command == "undrain")
    Feed(UndrainNode{name});
  else if (command == "gone")
    Feed(NodeGone{name});
  else if (command == "answered")  // Its members are told that their generation stands, beside their reports.
    answered_[uid_] = now_;
  else if (command == "pause")
    Feed(PauseJob{uid_});
  else if (command == "resume")
    Feed(ResumeJob{uid_, ToDouble(Get(options, "budget", "0")), Get(options, "from", ""), options.count("yes") > 0,
                   Get(options, "store", ""), options.count("old_is_gone") > 0});
  else if (command == "prices")
    Feed(PricesSet{prices_ = ToPrices(options)});
  else if (command == "price")
    Feed(PriceHeard{name, ToDouble(words.size() > 2 ? words[2] : "")});
  else if (command == "carbon")
    Feed(CarbonSet{carbon_ = ToCarbon(options)});
  else if (command == "costs")
    for (const std::string& cost : DescribeCost(cluster_->FindJob(uid_)->job().status().cost())) Say(cost);
  else if (command == "granted")
    ShowGrant();
  else if (command == "pool")
    Feed(ToPoolReport(name, options));
  else if (command == "lost_machines")
    for (const auto& [pool, record] : saved_pools_) Say(DescribeNeverRegistered(record));
  else if (command == "clock") {  // The machine's clock is set, or it slept: the coordinator's `now` does not see that.
    const double slept = ToDouble(Get(options, "slept", "0"));
    wall_offset_ += ToDouble(Get(options, "step", "0")) + slept;
    Feed(ClockSet{wall_offset_, slept});
  } else if (command == "rm")
    Feed(ForgetJob{uid_});
  else if (command == "cancel")
    Feed(CancelJob{uid_, options.count("discard") > 0});
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

std::vector<std::string> Scenario::Untruths() const {
  std::vector<std::string> untruths;
  for (const v1::JobRecord* record : cluster_->Jobs()) {
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

void Scenario::Feed(const Event& event) {
  if (stalls_) return kept_.push_back(event);
  Decide({event});
}

void Scenario::Stall(bool stalls) {
  stalls_ = stalls;
  if (!stalls) Decide(std::exchange(kept_, {}));
}

void Scenario::Decide(const std::vector<Event>& events) {
  std::vector<LeaseQuestion> questions;
  Effects effects;
  for (const Event& event : events) cluster_->Take(event, now_, &effects);
  cluster_->Settle(now_, &effects);
  wake_at_ = effects.wake_at;
  if (!effects.status.ok()) Say(absl::StrCat("refused: ", std::string(effects.status.message())));
  for (const v1::NodeRecord& node : effects.save_nodes) saved_nodes_[node.name()] = node;
  for (const std::string& node : effects.forget_nodes) saved_nodes_.erase(node);
  for (const v1::PoolRecord& pool : effects.save_pools) saved_pools_[pool.name()] = pool;
  for (const v1::JobRecord& job : effects.save_jobs) {
    v1::JobRecord& before = saved_jobs_[job.job().uid()];
    if (before.membership().generation() != job.membership().generation()) {
      for (const std::string& line : DescribeMembership(job.membership())) Say(Prefix(job.job().name()) + line);
    }
    before = job;
  }
  for (const std::string& job : effects.forget_jobs) saved_jobs_.erase(job);
  for (const LeaseQuestion& question : effects.leases) questions.push_back(question);
  for (const PoolOrder& order : effects.orders) Say(DescribeOrder(order));
  for (const v1::Event& e : effects.events) Say(absl::StrCat(Prefix(e.job()), e.kind(), ": ", e.text()));
  for (const LeaseQuestion& question : questions) {
    const double left = answered_[question.uid] + question.seconds - now_;
    Feed(LeaseChecked{question.uid, question.generation, std::max(0.0, left)});
  }
}

std::string Scenario::Prefix(const std::string& job) const {
  int going_on = 0;
  for (const v1::JobRecord* record : cluster_->Jobs())
    going_on += record->job().status().state() <= v1::PAUSED || record->job().status().has_finishing();
  return going_on < 2 || job.empty() ? "" : absl::StrCat("[", job, "] ");
}

v1::TrainerDirective Scenario::DirectiveFor(const v1::TrainerReport& report) const {
  return cluster_->DirectiveForTrainer(report.job_uid(), report.trainer());
}

std::string Scenario::JobAt(const std::string& slot) const {
  const v1::NodeDirective directive = cluster_->DirectiveForNode(NodeOf(slot + "/1"));
  for (const v1::DesiredTrainer& desired : directive.trainers()) {
    if (desired.slot() == SlotOf(slot + "/1")) return desired.job_uid();
  }
  return uid_;
}

void Scenario::Submit(const std::string& name, const Options& options) {
  SubmitJob submit;
  v1::Job* job = submit.record.mutable_job();
  job->set_name(name);
  job->set_uid(Get(options, "uid", name + "-uid"));
  submit.record.set_secret(kSecret);
  v1::JobSpec* spec = job->mutable_status()->mutable_resolved_spec();
  spec->mutable_training()->set_global_batch(ToInt(Get(options, "micro_batches", "6")));
  spec->mutable_training()->set_micro_batch(ToInt(Get(options, "micro_batch", "1")));  // "auto" is 0.
  spec->mutable_training()->set_steps(ToInt(Get(options, "steps", "100")));
  spec->mutable_training()->set_reduce(Get(options, "reduce", "exact"));
  if (options.count("first_epoch")) spec->mutable_training()->set_first_epoch(options.at("first_epoch"));
  if (options.count("smoke")) spec->mutable_training()->set_smoke_test(true);
  spec->mutable_training()->set_precision(Get(options, "precision", "fp32"));
  spec->mutable_training()->set_optimizer_state(Get(options, "optimizer_state", "whole"));
  spec->mutable_checkpoint()->set_store(Get(options, "store", ""));
  spec->mutable_data()->set_fingerprint(Get(options, "fingerprint", ""));
  if (options.count("every_steps")) spec->mutable_checkpoint()->set_every_steps(ToInt(options.at("every_steps")));
  spec->mutable_workers()->set_min(ToInt(Get(options, "min", "1")));
  spec->mutable_workers()->set_max(ToInt(Get(options, "max", "0")));
  spec->mutable_workers()->set_device(Get(options, "device", ""));
  SetGoals(options, spec);
  job->mutable_status()->set_submitted_at(now_ + wall_offset_);
  uid_ = job->uid();
  v1::DesiredTrainer& wanted = wanted_[uid_];
  wanted.set_job_uid(uid_);
  wanted.set_job_name(name);
  wanted.set_job_secret(kSecret);
  *wanted.mutable_spec() = *spec;
  Feed(submit);
}

void Scenario::Node(const Words& words, const Options& options) {
  const std::string& name = words[1];
  const std::string machine = Get(options, "machine", "1");
  const std::string key = machine == "1" ? name : absl::StrCat(name, "@", machine);
  v1::NodeReport& report = nodes_[key];
  report.set_node(name);
  if (report.home().empty()) report.set_home("h" + machine);
  if (options.count("disk_of")) report.set_incarnation("i" + options.at("disk_of"));
  if (options.count("agent")) report.set_agent_incarnation(options.at("agent"));
  if (report.incarnation().empty()) report.set_incarnation("i" + machine);
  if (report.agent_incarnation().empty()) report.set_agent_incarnation("a" + machine);
  if (!report.has_machine()) {  // Nodes may share one.
    report.mutable_machine()->set_hardware(Get(options, "on", key));
    report.mutable_machine()->set_processes(Get(options, "on", key));
    report.mutable_machine()->set_boot("b");
  }
  report.set_protocol_version(ToInt(Get(options, "version", std::to_string(common::kProtocolVersion))));
  report.set_slots(ToInt(Get(options, "slots", std::to_string(std::max(1, report.slots())))));
  report.set_wait_ms(1000);
  if (options.count("memory")) {
    report.mutable_device()->set_kind("cpu");
    report.mutable_device()->set_memory_bytes(ToDouble(options.at("memory")) * 1e9);
  }
  if (options.count("zone")) report.set_zone(options.at("zone"));
  if (options.count("pool")) report.set_pool(options.at("pool"));
  if (options.count("device")) report.mutable_device()->set_kind(options.at("device"));
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
    process->set_job_uid(trainer.job_uid());
    process->set_slot(SlotOf(trainer.trainer()));
    process->set_exit_code(ToInt(words[4]));
    process->set_exit_seen(options.count("unseen") == 0);
    process->set_out_of_memory(options.count("out_of_memory") > 0);
    trainers_.erase(words[3]);
  } else if (what == "replaced" || what == "wiped" || what == "restarted") {
    if (what != "restarted") report.set_incarnation(report.incarnation() + "+");
    if (what != "restarted") report.set_home(report.home() + "+");
    if (what == "replaced") report.mutable_machine()->set_boot(report.machine().boot() + "+");
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
  const bool is_new = what == "replaced" || what == "wiped";  // What ran there before is not its own.
  for (const auto& [other, trainer] : trainers_) {
    if (trainer.node() != name || key != name || is_new) continue;
    v1::TrainerProcess* process = report.add_trainers();
    process->set_trainer(trainer.trainer());
    process->set_job_uid(trainer.job_uid());
    process->set_slot(SlotOf(trainer.trainer()));
    process->set_running(true);
  }
  if (options.count("checkpoint")) report.set_checkpoint_incarnation(options.at("checkpoint"));
  report.clear_absent_trainers();
  const v1::NodeDirective told = cluster_->DirectiveForAgent(name, report.agent_incarnation());
  report.clear_left_alone();
  for (const std::string& uid : told.leave_alone()) *report.add_left_alone() = wanted_[uid];
  report.clear_stored_jobs();
  for (const std::string& uid : told.read_stored()) *report.add_stored_jobs() = StoredOf(uid);
  for (const v1::SoughtTrainer& sought : told.look_for()) {
    const auto at = trainers_.find(ShortName(sought.trainer()));
    if (at == trainers_.end() || at->second.trainer() != sought.trainer()) report.add_absent_trainers(sought.trainer());
  }
  Feed(NodeReported{report, options.count("alone") > 0});
  // The machine before it is gone: it speaks until it has its name.
  while (is_new && !cluster_->RivalOf(name, report.agent_incarnation()).empty()) {
    Tick(kCallSeconds);
    Feed(NodeReported{report, true});
  }
}

void Scenario::Trainer(const std::string& name, const Words& words, const Options& options) {
  const std::string& command = words[0];
  if (command == "trainer") {  // A new process.
    const int incarnation = ToInt(Get(options, "incarnation", "1"));
    trainers_[name] = NewTrainer(name, incarnation, JobAt(name), kSecret);
    const auto node = nodes_.find(trainers_[name].node());
    if (node != nodes_.end()) {
      trainers_[name].mutable_process()->set_pid(1);
      *trainers_[name].mutable_process()->mutable_machine() = node->second.machine();
    }
  } else if (!trainers_.count(name)) {
    return Say(absl::StrCat("error: no trainer ", name));
  } else if (command == "follow") {
    FollowDirective(DirectiveFor(trainers_[name]), trainers_[name]);
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
  v1::TrainerReport& report = trainers_[name];
  for (const std::string& error : SetFields(options, report)) Say(error);
  const int64_t look = DirectiveFor(report).look();
  report.clear_stored_job_file();
  if (look > report.looked() && report.checkpoint_error().empty()) {
    report.set_looked(look);
    report.set_stored_job_file(StoredOf(report.job_uid()).job_file());
  }
  Report(name);
}

void Scenario::Interrupt(const std::string& name) { trainers_[name].set_phase(v1::TRAINER_INTERRUPTED); }

void Scenario::Steps(const std::string& name, int count) {
  v1::TrainerReport& report = trainers_[name];
  CompleteSteps(DirectiveFor(report).membership(), count, report);
}

void Scenario::Report(const std::string& name) {
  v1::TrainerReport& report = trainers_[name];
  report.set_sequence(report.sequence() + 1);
  Feed(TrainerReported{report});
}

void Scenario::Tick(double seconds) {
  const double until = now_ + seconds;
  if (cluster_->IsListening() && until >= listens_until_) {
    now_ = listens_until_;
    Feed(ListenedFirst{{epoch_, 0}});
  }
  while (!cluster_->IsListening() && wake_at_ <= until) {
    now_ = std::max(now_, wake_at_);
    const double before = wake_at_;
    Feed(core::Tick{});
    if (wake_at_ <= before) now_ = std::max(now_, before + 0.001);
  }
  now_ = until;
}

void Scenario::Live(double seconds) {
  constexpr double kBeat = 5;
  for (double left = seconds; left > 0; left -= kBeat) {
    Tick(std::min(kBeat, left));
    for (const auto& [name, report] : nodes_) Feed(NodeReported{report});
    for (const auto& [name, report] : trainers_) Report(name);
  }
}

void Scenario::Backup() {
  copied_jobs_ = saved_jobs_;
  copied_nodes_ = saved_nodes_;
}

void Scenario::SaveToStore(const Options& options) {
  v1::JobRecord record = *cluster_->FindJob(uid_);
  if (options.count("over") > 0) {
    record.mutable_job()->mutable_status()->set_state(v1::SUCCEEDED);
    record.mutable_job()->mutable_status()->set_reason("made all its steps");
  }
  if (options.count("secret") > 0) record.set_secret(options.at("secret"));
  v1::ClusterIdentity by;
  by.set_cluster(Get(options, "cluster", kCluster));
  by.set_epoch(ToInt(Get(options, "epoch", absl::StrCat(epoch_))));
  v1::StoredJob& stored = stores_[uid_];
  stored.set_job_file(EncodeJobFile(MakeJobFile(record, by, now_ + wall_offset_)).value());
  stored.set_generation(record.membership().generation());
}

v1::StoredJob Scenario::StoredOf(const std::string& uid) const {
  v1::StoredJob stored;
  const auto known = stores_.find(uid);
  if (known != stores_.end()) {
    stored = known->second;
  } else {
    stored.set_problem("there is no job.json");
  }
  stored.set_job_uid(uid);
  return stored;
}

// Nothing is left of the copy but what the jobs' stores keep.
void Scenario::Recover(const Options& options) {
  saved_nodes_.clear();
  saved_pools_.clear();
  saved_jobs_.clear();
  for (const auto& [uid, record] : copied_jobs_) {
    const v1::JobFile file = MakeJobFile(record, {}, now_ + wall_offset_);
    saved_jobs_[uid] = Revive(file, {.secret = absl::StrCat(record.secret(), "+"),
                                     .store_generation = ToInt(Get(options, "store_generation", "0")),
                                     .old_is_gone = options.count("old_is_gone") > 0,
                                     .runs = options.count("run") > 0,
                                     .unix_now = now_ + wall_offset_ + ToDouble(Get(options, "away", "0"))});
  }
  ++epoch_;
  listens_until_ = now_ + kListenSeconds;
}

void Scenario::Restart(const Options& options) {
  now_ += ToDouble(Get(options, "away", "0"));
  wall_offset_ += ToDouble(Get(options, "clock", "0"));
  if (options.count("keep_jobs") > 0) tunables_.keep_jobs = ToInt(options.at("keep_jobs"));
  if (options.count("keep_days") > 0) tunables_.keep_days = ToDouble(options.at("keep_days"));
  cluster_ = std::make_unique<Cluster>(tunables_);
  Restored restored;
  restored.wall_offset = wall_offset_;
  restored.cluster = kCluster;
  restored.epoch = {epoch_, 0};
  restored.listen_first = listens_until_ > now_;
  restored.prices = prices_;
  restored.carbon = carbon_;
  for (const auto& [uid, record] : saved_jobs_) restored.jobs.push_back(record);
  for (const auto& [name, record] : saved_nodes_) restored.nodes.push_back(record);
  for (const auto& [name, record] : saved_pools_) restored.pools.push_back(record);
  shown_.clear();
  Feed(restored);
}

void Scenario::ShowGrant() {
  const double until = cluster_->FindJob(uid_)->granted_until();
  Say(until > 0 ? absl::StrFormat("may spend for %.0f s without word", until - (now_ + wall_offset_))
                : "may spend without end");
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
  if (cluster_->IsListening()) return;  // Nobody is told anything.
  for (auto& [name, report] : trainers_) {
    const v1::TrainerDirective directive = DirectiveFor(report);
    report.set_known_revision(directive.revision());
    const std::string line = absl::StrCat(report.trainer(), " <- ", DescribeDirective(directive));
    if (shown_[name] != line) Say(line);
    shown_[name] = line;
  }
  for (const auto& [name, report] : nodes_) {
    const std::string line = absl::StrCat(
        name, " <- ", DescribeDirective(cluster_->DirectiveForAgent(report.node(), report.agent_incarnation())));
    if (shown_[name] != line) Say(line);
    shown_[name] = line;
  }
}

}  // namespace rekindle::core
