#include "coordinator/core/simulation/spending_world.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/agreed/agreed_limits.h"
#include "common/agreed/version.h"
#include "coordinator/core/scenario/scenario_trainer.h"

namespace rekindle::core::simulation {
namespace {

constexpr char kJob[] = "job";
constexpr char kPool[] = "a";
constexpr double kHours = 3600;
// During this many seconds, machines and the coordinator suffer faults.
constexpr double kDisturbed = 2 * kHours;
// After the time with faults, there are no faults for this many seconds.
constexpr double kQuiet = 3 * kHours;
constexpr double kClocksDiffer = 0.009;
// A job may exceed its budget by what it costs in this many seconds.
constexpr double kPlanningPeriod = 60;
// A decision takes at most this many seconds to reach the machine that it concerns.
constexpr double kSlow = 3;
constexpr double kNoEnd = std::numeric_limits<double>::infinity();
constexpr size_t kJournal = 600;

}  // namespace

SpendingWorld::SpendingWorld(uint64_t seed) : chance_(seed) {
  most_ = 1 + chance_.Pick(4);
  price_ = chance_.Uniform(0.5, 5) / kHours;
  budget_ = price_ * most_ * chance_.Uniform(0.1, 1.5) * kHours;
  tunables_.alone_seconds = chance_.Happens(0.8) ? chance_.Uniform(200, 1500) : 0;
  prices_.currency = "USD";
  PoolPrices& pool = prices_.pools[kPool];
  pool.capacity = "spot";
  pool.price = {{0, price_ * kHours}};
  pool.ordered = true;
  pool.max = most_ + 2;
  Note(absl::StrFormat("1 to %d machines of %.5f a second, a budget of %.4f, %.0f s alone", most_, price_, budget_,
                       tunables_.alone_seconds));
}

std::string SpendingWorld::Play() {
  Start();
  SubmitJob submit;
  v1::Job* job = submit.record.mutable_job();
  job->set_name(kJob);
  job->set_uid(kJob);
  submit.record.set_secret("secret");
  v1::JobSpec* spec = job->mutable_status()->mutable_resolved_spec();
  spec->mutable_training()->set_global_batch(12);
  spec->mutable_training()->set_micro_batch(1);
  spec->mutable_training()->set_steps(1'000'000);
  spec->mutable_training()->set_reduce("exact");
  spec->mutable_training()->set_precision("fp32");
  spec->mutable_training()->set_optimizer_state("whole");
  spec->mutable_checkpoint()->set_store("s");
  spec->mutable_workers()->set_min(1 + chance_.Pick(most_));
  spec->mutable_workers()->set_max(most_);
  if (chance_.Happens(0.5)) spec->mutable_recovery()->set_lease(kNoLease);
  spec->mutable_goals()->set_budget(budget_);
  *job->mutable_spec() = *spec;
  job->mutable_status()->set_submitted_at(now_);
  Feed(submit);
  const double disturbed_until = now_ + kDisturbed;
  for (const double until = disturbed_until + kQuiet; now_ < until; now_ += 1) {
    if (now_ < disturbed_until) Disturb();
    if (cluster_ == nullptr && now_ >= back_at_) Start();
    for (int i = 0; cluster_ != nullptr && wake_at_ <= now_ && i < 100; ++i) Feed(core::Tick{});
    Provide();
    std::vector<std::string> names;
    for (const auto& [name, machine] : machines_) names.push_back(name);
    for (const std::string& name : names) {
      const auto machine = machines_.find(name);
      if (machine != machines_.end() && now_ >= machine->second.ready_at && machine->second.registers) {
        Live(name, machine->second);
      }
    }
    Work();
    EndThoseAlone();
    for (const auto& [name, machine] : machines_) ran_ += machine.serves.empty() ? 0 : 1;
  }
  if (cluster_ == nullptr) Start();
  return Judge();
}

void SpendingWorld::Note(const std::string& line) {
  journal_.push_back(absl::StrCat(now_, " ", line));
  if (journal_.size() > kJournal) journal_.pop_front();
}

void SpendingWorld::Feed(const Event& event) {
  if (cluster_ == nullptr) return;
  const Effects effects = cluster_->Step(event, now_);
  wake_at_ = effects.wake_at;
  for (const v1::NodeRecord& node : effects.save_nodes) node_records_[node.name()] = node;
  for (const v1::PoolRecord& pool : effects.save_pools) pool_records_[pool.name()] = pool;
  for (const v1::JobRecord& job : effects.save_jobs) records_[job.job().uid()] = job;
  for (const v1::Event& e : effects.events) {
    Note(absl::StrCat(e.kind(), ": ", e.text()));
    stopped_for_budget_ += e.kind() == "budget_stop";
  }
  for (const PoolOrder& order : effects.orders) {
    ordered_ = order.nodes;
    doubted_ = order.look_for;
    if (order.surplus == Surplus::kStays) continue;
    for (const std::string& name : order.release) Remove(name, "is given back");
    for (const std::string& name : order.end) Remove(name, "is ended by name");
  }
  for (const LeaseQuestion& question : effects.leases) Feed(LeaseChecked{question.uid, question.generation, 0});
}

void SpendingWorld::Start() {
  cluster_ = std::make_unique<Cluster>(tunables_);
  Restored restored;
  // The offset of the wall clock is not 0, because 0 would say that the clock is not known.
  restored.wall_offset = 0.001;
  restored.prices = prices_;
  for (const auto& [uid, record] : records_) restored.jobs.push_back(record);
  for (const auto& [name, record] : node_records_) restored.nodes.push_back(record);
  for (const auto& [name, record] : pool_records_) restored.pools.push_back(record);
  Feed(restored);
}

void SpendingWorld::Disturb() {
  if (chance_.Happens(0.0005)) {
    back_at_ = now_ + chance_.Uniform(1, 2500);
    Note(absl::StrCat("the coordinator is away until ", back_at_));
    cluster_.reset();
  }
  const bool all = chance_.Happens(0.0005);
  const double all_until = now_ + chance_.Uniform(1, 3000);
  std::vector<std::string> killed;
  for (auto& [name, machine] : machines_) {
    if (chance_.Happens(0.0003)) killed.push_back(name);
    if (!all && !chance_.Happens(0.0005)) continue;
    machine.cut_until = std::max(machine.cut_until, all ? all_until : now_ + chance_.Uniform(1, 3000));
    Note(absl::StrCat(name, " is cut off until ", machine.cut_until));
  }
  for (const std::string& name : killed) Remove(name, "is taken");
}

void SpendingWorld::Remove(const std::string& name, const std::string& why) {
  const auto machine = machines_.find(name);
  if (machine == machines_.end()) return;
  Note(absl::StrCat(name, " ", why));
  changes_ += !machine->second.serves.empty();
  machines_.erase(machine);
}

// Makes as many machines as are ordered. A machine that is cut off from the coordinator is not cut off from its
// provider.
void SpendingWorld::Provide() {
  while (static_cast<int>(machines_.size()) < std::min(ordered_, prices_.pools[kPool].max)) {
    const std::string name = absl::StrCat(kPool, ++made_);
    Machine& machine = machines_[name];
    machine.ready_at = now_ + chance_.Uniform(1, 30);
    machine.registers = chance_.Happens(0.9);
    machine.pace = 1 + chance_.Uniform(-kClocksDiffer, kClocksDiffer);
    machine.alone_until = machine.spend_until = kNoEnd;
    machine.saves_for = chance_.Uniform(0, common::kMachineEndSeconds);
  }
  if (!chance_.Happens(0.1)) return;
  PoolReported report{.pool = kPool, .running = static_cast<int>(machines_.size())};
  for (const auto& [name, machine] : machines_) {
    report.machines.push_back({.id = name, .node = name, .running = machine.ready_at <= now_});
  }
  if (chance_.Happens(0.5)) {
    // The coordinator asks whether certain machines have ended. Often the provider does not know that yet.
    for (const std::string& name : doubted_) {
      if (machines_.count(name) == 0) report.ended.push_back(name);
    }
  }
  Feed(report);
}

void SpendingWorld::Live(const std::string& name, Machine& machine) {
  if (!IsHeard(machine)) return;
  v1::NodeReport& report = machine.report;
  report.set_node(name);
  report.set_incarnation("i" + name);
  report.set_agent_incarnation("a1");
  report.set_protocol_version(common::kProtocolVersion);
  report.set_slots(1);
  report.set_wait_ms(1000);
  report.set_pool(kPool);
  report.clear_trainers();
  if (machine.has_trainer) {
    v1::TrainerProcess* running = report.add_trainers();
    running->set_trainer(machine.trainer.trainer());
    running->set_job_uid(kJob);
    running->set_running(true);
  }
  Feed(NodeReported{report});
  const auto still = machines_.find(name);
  if (still == machines_.end()) return;
  Obey(name, still->second);
}

void SpendingWorld::TakeHorizons(const std::string& name, Machine& machine) {
  const Cluster::Horizons told = cluster_->HorizonsOf(name);
  machine.alone_until = told.alone_seconds > 0 ? now_ + told.alone_seconds * machine.pace : kNoEnd;
  machine.spend_until = std::isinf(told.spend_until) ? kNoEnd : now_ + (told.spend_until - now_) * machine.pace;
}

void SpendingWorld::Obey(const std::string& name, Machine& machine) {
  machine.over_at = 0;
  TakeHorizons(name, machine);
  const v1::NodeDirective directive = cluster_->DirectiveForNode(name);
  machine.report.set_known_revision(directive.revision());
  const std::string serves = directive.trainers_size() > 0 ? kJob : "";
  changes_ += serves != machine.serves;
  machine.serves = serves;
  if (serves.empty()) machine.has_trainer = false;
  if (!serves.empty() && !machine.has_trainer) {
    machine.trainer = NewTrainer(absl::StrCat(name, "/0"), ++starts_, kJob, "secret");
    if (!saved_.empty()) (void)SetFields({{"restorable", saved_}}, machine.trainer);
    machine.has_trainer = true;
  }
  if (!machine.has_trainer) return;
  machine.trainer.set_sequence(machine.trainer.sequence() + 1);
  const std::string id = machine.trainer.trainer();
  Feed(TrainerReported{machine.trainer});
  const auto still = machines_.find(name);
  if (still == machines_.end()) return;
  const v1::TrainerDirective told = cluster_->DirectiveForTrainer(kJob, id);
  if (told.action() == v1::TrainerDirective::EXIT) {
    still->second.has_trainer = false;
  } else if (told.action() != v1::TrainerDirective::YIELD) {
    FollowDirective(told, still->second.trainer);
  }
}

// Lets the members of one generation step together while each of them is there, whether they are heard or not.
void SpendingWorld::Work() {
  // `running` maps the number of a generation to the reports of its running members.
  std::map<int, std::vector<v1::TrainerReport*>> running;
  bool yields = false, saves = false;
  for (auto& [name, machine] : machines_) {
    if (!machine.has_trainer || machine.trainer.phase() != v1::TRAINER_RUNNING) continue;
    running[machine.trainer.generation()].push_back(&machine.trainer);
    if (!IsHeard(machine)) continue;
    const v1::TrainerDirective told = cluster_->DirectiveForTrainer(kJob, machine.trainer.trainer());
    if (told.action() != v1::TrainerDirective::YIELD) continue;
    yields = true;
    saves = saves || told.checkpoint();
  }
  for (auto& [generation, members] : running) {
    const v1::Membership membership = members.front()->membership();
    const bool whole = static_cast<int>(members.size()) == membership.members_size();
    for (v1::TrainerReport* trainer : members) {
      if (!whole) {
        if (chance_.Happens(0.3)) trainer->set_phase(v1::TRAINER_INTERRUPTED);
        continue;
      }
      if (!yields) {
        CompleteSteps(membership, 1, *trainer);
        continue;
      }
      trainer->set_phase(v1::TRAINER_QUIESCED);
      trainer->clear_assigned();
      if (!saves) continue;
      saved_ = absl::StrCat(generation, "-", trainer->step(), "-x");
      (void)SetFields({{"committed", saved_}}, *trainer);
    }
  }
}

void SpendingWorld::EndThoseAlone() {
  std::vector<std::string> ended;
  for (auto& [name, machine] : machines_) {
    if (now_ < std::min(machine.alone_until, machine.spend_until)) continue;
    if (machine.over_at == 0) machine.over_at = now_;
    if (now_ >= machine.over_at + machine.saves_for) ended.push_back(name);
  }
  ended_alone_ += static_cast<int>(ended.size());
  for (const std::string& name : ended) Remove(name, "ends by itself");
}

std::string SpendingWorld::Judge() const {
  const v1::Cost& cost = cluster_->FindJob(kJob)->job().status().cost();
  const double ran = price_ * (ran_ - kSlow * changes_);
  if (cost.spent() < ran) {
    return absl::StrFormat("%.5f are spent, and what ran has cost %.5f", cost.spent(), ran);
  }
  const double cap = budget_ + price_ * (most_ + 1) * kPlanningPeriod;
  if (cost.spent() > cap) return absl::StrFormat("%.5f are spent of %.5f", cost.spent(), budget_);
  return "";
}

}  // namespace rekindle::core::simulation
