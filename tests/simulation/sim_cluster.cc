#include "tests/simulation/sim_cluster.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace rekindle::core::simulation {
namespace {

// A message takes at most `kSlowest` seconds.
constexpr double kSlowest = 0.03;
constexpr double kLost = 0.04;
constexpr double kDoubled = 0.04;
// With the probability `kCrashInStep` the coordinator is killed in a turn, before or after it has saved.
constexpr double kCrashInStep = 0.0008;
// With the probability `kBusy` an event waits for the end of a turn. It waits for at most `kLongestTurn` seconds,
// together with all events that arrive meanwhile.
constexpr double kBusy = 0.3;
constexpr double kLongestTurn = 0.01;
constexpr double kSlowCommit = 1;
constexpr double kIdleSeconds = 10;
constexpr double kPoolAvoidSeconds = 4;
constexpr double kReturnSeconds = 3;
// The jobs have `kFinishSeconds` to finish after the faults have stopped.
constexpr double kFinishSeconds = 400;
constexpr size_t kJournalLines = 4000;

}  // namespace

SimCluster::SimCluster(uint64_t seed, const Options& options) : options_(options), chance_(seed) {
  for (const JobOptions& each : options.jobs) {
    SimJob& job = jobs_[each.name];
    job.uid = each.name;
    job.options = each;
    job.bill.budget = each.budget;
  }
  for (const PoolOptions& each : options.pools) {
    SimPool& pool = pools_[each.name];
    pool.options = each;
    pool.offered = each.max;
    pool.prices = {{0, each.price}};
    pool.least_price = pool.highest_price = each.price;
  }
}

void SimCluster::Note(const std::string& line) {
  journal_.push_back(absl::StrFormat("%8.3f %s", queue_.now(), line));
  if (journal_.size() > kJournalLines) journal_.pop_front();
}

void SimCluster::Violate(const std::string& what) {
  if (!violation_.empty()) return;
  violation_ = absl::StrFormat("at %.3f s: %s", queue_.now(), what);
  Note("VIOLATION " + what);
}

void SimCluster::Send(const std::string& node, std::function<void()> arrive) {
  const int copies = lossy_ && chance_.Happens(kLost) ? 0 : lossy_ && chance_.Happens(kDoubled) ? 2 : 1;
  if (copies == 0) tally_.Count(Fault::kMessageLost);
  if (copies == 2) tally_.Count(Fault::kMessageDoubled);
  for (int i = 0; i < copies; ++i) {
    queue_.At(queue_.now() + chance_.Uniform(0.001, kSlowest), [this, node, arrive] {
      if (nodes_[node].unheard_until <= queue_.now()) arrive();
    });
  }
}

void SimCluster::StartCoordinator() {
  Tunables tunables;
  // The limit of failed starts is high, because here starts fail only because the schedule kills trainers.
  tunables.max_start_failures = 1000;
  tunables.exclusion_seconds = 5;
  tunables.pause_seconds = kPauseSeconds;
  tunables.idle_seconds = kIdleSeconds;
  tunables.lease_seconds = kLeaseSeconds;
  tunables.lease_save_seconds = kLeaseSaveSeconds;
  tunables.lease_step_seconds = kLeaseStepSeconds;
  tunables.pool_start_seconds = kPoolStartSeconds;
  tunables.pool_avoid_seconds = kPoolAvoidSeconds;
  tunables.register_seconds = kRegisterSeconds;
  tunables.return_seconds = kReturnSeconds;
  tunables.alone_seconds = options_.alone_seconds;
  cluster_ = std::make_unique<Cluster>(tunables);
  coordinator_up_ = true;
  wake_at_ = std::numeric_limits<double>::infinity();
  ++coordinator_life_;
  coordinator_since_ = queue_.now();
  commits_ = false;
  NoteClockSetWhileAway();
  KnowPrices();
  stalled_ = told_stalled_ = 0;
  told_offset_ = wall_offset_;
  leases_.clear();
  spend_until_.clear();
  Restored restored;
  for (const auto& [uid, record] : records_) {
    if (record.job().uid().empty()) continue;
    restored.jobs.push_back(record);
    NoteBill(record);
    if (!listens_first_) SetLease(record);
  }
  for (const auto& [name, record] : node_records_) restored.nodes.push_back(record);
  for (const auto& [name, record] : pool_records_) restored.pools.push_back(record);
  restored.prices = PricesOfPools();
  restored.cluster = kCluster;
  restored.epoch = {epoch_, 0};
  restored.wall_offset = wall_offset_;
  restored.listen_first = listens_first_;
  if (listens_first_) Listen();
  for (auto& [name, pool] : pools_) pool.reported = -1;
  Note("coordinator starts");
  Feed(restored);
}

void SimCluster::Crash(double away) {
  if (!coordinator_up_) return;
  Note("coordinator is killed");
  coordinator_up_ = false;
  cluster_.reset();
  arrived_.clear();
  queue_.At(queue_.now() + away, [this] { StartCoordinator(); });
}

void SimCluster::Feed(const Event& event, std::function<void()> then) {
  arrived_.emplace_back(event, std::move(then));
  if (arrived_.size() > 1 || commits_) return;  // A turn that handles the event is due already.
  if (!lossy_ || !chance_.Happens(kBusy)) return RunTurn();
  queue_.At(queue_.now() + chance_.Uniform(0, kLongestTurn), [this, life = coordinator_life_] {
    if (coordinator_up_ && life == coordinator_life_) RunTurn();
  });
}

void SimCluster::RunTurn() {
  if (commits_) return;  // The next turn handles the events that have arrived.
  ++coordinator_steps_;
  const bool crash = lossy_ && chance_.Happens(kCrashInStep);
  const bool saved = !crash || chance_.Happens(0.5);
  Turned turned{.arrived = std::exchange(arrived_, {}), .effects = {}};
  Effects& effects = turned.effects;
  Answers before;
  if (options_.compare) before = AnswersOf(*cluster_);
  FollowClocks(&effects);
  for (const auto& [event, then] : turned.arrived) cluster_->TakeEvent(event, CoreNow(), &effects);
  if (CoreNow() >= wake_at_) cluster_->TakeEvent(Tick{}, CoreNow(), &effects);
  cluster_->Settle(CoreNow(), &effects);
  CheckStatuses(effects);
  if (options_.compare) {
    CheckWoken(before, effects, turned.arrived);
    if (CoreNow() < effects.wake_at) CompareWithFull();
  }
  wake_at_ = effects.wake_at;
  if (crash) {
    if (saved && CanCommit()) Save(effects);
    tally_.Count(Fault::kCoordinatorKilledInStep);
    return Crash(chance_.Uniform(0.05, 2));
  }
  commits_ = true;
  if (!CanCommit()) return AwaitDatabase(std::move(turned), queue_.now());
  if (queue_.now() >= database_slow_until_) return Publish(turned);
  const double seconds = chance_.Uniform(0, kSlowCommit);
  queue_.At(queue_.now() + seconds, [this, turned = std::move(turned), life = coordinator_life_] {
    if (coordinator_up_ && life == coordinator_life_) Publish(turned);
  });
}

void SimCluster::Save(const Effects& effects) {
  saved_offset_ = told_offset_ - told_stalled_;
  listens_first_ = listens_first_ && cluster_->IsListening();
  for (const v1::NodeRecord& node : effects.save_nodes) node_records_[node.name()] = node;
  for (const v1::PoolRecord& pool : effects.save_pools) pool_records_[pool.name()] = pool;
  for (const v1::JobRecord& job : effects.save_jobs) {
    v1::JobRecord& before = records_[job.job().uid()];
    SimJob& real = jobs_.at(job.job().uid());
    CheckMembership(real, before, job);
    FollowBudget(real, before, job);
    CheckBill(real, job);
    KeepFile(real, job);
    before = job;
    SetLease(job);
  }
  if (!pools_.empty()) {
    for (const v1::JobRecord& job : effects.save_jobs) NotePayers(job);
  }
  for (const v1::Event& e : effects.events) {
    Note(absl::StrCat("  ", e.kind(), ": ", e.text()));
    NoteAdoption(e);
    // The event old_given_up says that the old processes of a job are given up. So the steps that only they have
    // completed are given up, too.
    if (e.kind() == "old_given_up") jobs_.at(e.job()).completed = 0;
  }
}

void SimCluster::Publish(const Turned& turned) {
  commits_ = false;
  Save(turned.effects);
  for (const PoolOrder& order : turned.effects.orders) TakeOrder(order);
  for (const auto& [event, then] : turned.arrived) {
    if (then) then();
  }
  for (const LeaseQuestion& question : turned.effects.leases) AnswerLease(question);
  if (!coordinator_up_) return;
  if (!arrived_.empty()) return RunTurn();
  CheckWake();
}

void SimCluster::CheckWake() {
  if (wake_at_ > 1e9) return;
  const int life = coordinator_life_;
  const double wanted = wake_at_;
  queue_.At(wanted + stalled_ + 0.0005, [this, life, wanted] {
    if (coordinator_up_ && life == coordinator_life_ && wake_at_ == wanted) Feed(Tick{});
  });
}

void SimCluster::Start() {
  // No message is lost until the first jobs are submitted.
  lossy_ = false;
  StartCoordinator();
  for (int i = 0; i < options_.nodes; ++i) {
    AddNode();
  }
  for (auto& [uid, job] : jobs_) {
    if (job.options.submit_at == 0) Submit(job);
  }
  lossy_ = true;
  for (auto& [uid, job] : jobs_) {
    if (job.options.submit_at > 0) queue_.At(job.options.submit_at, [this, &job = job] { Submit(job); });
  }
  for (const auto& [name, pool] : pools_) {
    Note(absl::StrFormat("pool %s may have %d machines of %.3f an hour each", name, pool.options.max,
                         pool.options.price));
    PoolLoop(name);
  }
  if (jobs_.size() > 1) InversionLoop();
  PlanFaults();
}

std::string SimCluster::Play() {
  Start();
  const double end = options_.chaos_seconds;
  while (violation_.empty() && queue_.RunOne(end)) {
  }
  if (!violation_.empty()) return violation_;
  Heal();
  const auto over = [this](const auto& entry) {
    const v1::JobState state = entry.second.job().status().state();
    return !jobs_.at(entry.first).submitted || state == v1::SUCCEEDED || state == v1::FAILED;
  };
  while (violation_.empty() && !std::all_of(records_.begin(), records_.end(), over) &&
         queue_.RunOne(end + kFinishSeconds)) {
  }
  std::vector<std::string> unfinished;
  for (const auto& [uid, record] : records_) {
    const v1::JobStatus& status = record.job().status();
    if (status.state() == v1::SUCCEEDED || !jobs_.at(uid).submitted) continue;
    unfinished.push_back(absl::StrCat(uid, " does not finish: ", v1::JobState_Name(status.state()), " ",
                                      status.reason(), ", step ", status.step(), " generation ", status.generation()));
  }
  const bool settled = !commits_ && arrived_.empty() && CoreNow() < wake_at_;
  if (violation_.empty() && settled) CompareWithFull();
  if (violation_.empty() && !unfinished.empty()) Violate(absl::StrJoin(unfinished, "\n"));
  return violation_;
}

}  // namespace rekindle::core::simulation
