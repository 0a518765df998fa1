#include "coordinator/core/simulation/market.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kBeat = 0.5;
// For this many seconds, jobs, faults and markets come and go.
constexpr double kDisturbed = 300;
// After the disturbed time, nothing comes or goes for this many seconds.
constexpr double kQuiet = 900;
constexpr size_t kJournal = 400;

}  // namespace

Market::Market(uint64_t seed) : chance_(seed) {
  const int pools = 1 + chance_.Pick(2);
  prices_.currency = "USD";
  for (int p = 0; p < pools; ++p) {
    const std::string name = std::string(1, static_cast<char>('a' + p));
    Pool& pool = pools_[name];
    pool.max = 1 + chance_.Pick(5);
    pool.market = chance_.Happens(0.5) ? pool.max : chance_.Pick(pool.max + 1);
    PoolPrices& prices = prices_.pools[name];
    prices.capacity = "spot";
    prices.price = {{0, 1.0 + p}};
    prices.on_demand = {{0, 5}};
    prices.ordered = true;
    prices.max = pool.max;
    Note(absl::StrCat("pool ", name, " may have ", pool.max, ", its market has ", pool.market));
  }
  // Some nodes belong to no pool, and come without an order.
  for (int n = chance_.Pick(3); n > 0; --n) machines_[absl::StrCat("n", n)] = {};
}

std::string Market::Play() {
  Start();
  const double until = now_ + kDisturbed + kQuiet;
  const double disturbed_until = now_ + kDisturbed;
  while (now_ < until && violation_.empty()) {
    if (now_ < disturbed_until) Disturb();
    Tick();
    Provide();
    Agents();
    Trainers();
    Check();
    now_ += kBeat;
  }
  return violation_;
}

void Market::Note(const std::string& line) {
  journal_.push_back(absl::StrCat(now_, " ", line));
  if (journal_.size() > kJournal) journal_.pop_front();
}

void Market::Feed(const Event& event) {
  const Effects effects = cluster_->Step(event, now_);
  wake_at_ = effects.wake_at;
  for (const v1::NodeRecord& node : effects.save_nodes) node_records_[node.name()] = node;
  for (const v1::PoolRecord& pool : effects.save_pools) pool_records_[pool.name()] = pool;
  for (const v1::JobRecord& job : effects.save_jobs) records_[job.job().uid()] = job;
  for (const v1::Event& e : effects.events) {
    Note(absl::StrCat(e.job(), " ", e.kind(), ": ", e.text()));
    CheckEvent(e);
  }
  for (const PoolOrder& order : effects.orders) {
    Pool& pool = pools_[order.pool];
    // A provider that has refused an order answers anew to an order of more nodes, even if it refuses that one, too.
    if (order.nodes > pool.ordered) pool.refuses = false;
    pool.ordered = order.nodes;
    pool.doubted = order.look_for;
    for (const std::string& name : order.release) machines_.erase(name);
    for (const std::string& name : order.end) machines_.erase(name);
  }
}

void Market::Start() {
  cluster_ = std::make_unique<Cluster>();
  Restored restored;
  // The offset of the wall clock is not 0, because 0 would say that the clock is not known.
  restored.wall_offset = 0.001;
  restored.prices = prices_;
  for (const auto& [uid, record] : records_) restored.jobs.push_back(record);
  for (const auto& [name, record] : node_records_) restored.nodes.push_back(record);
  for (const auto& [name, record] : pool_records_) restored.pools.push_back(record);
  Feed(restored);
}

void Market::Submit() {
  const int number = static_cast<int>(wishes_.size());
  if (number >= 8) return;
  const std::string name = absl::StrCat("j", number);
  Wish wish;
  constexpr int kPriorities[] = {0, 0, 1, 10, 1000};
  wish.priority = kPriorities[chance_.Pick(5)];
  wish.min = 1 + chance_.Pick(3);
  wish.max = wish.min + (chance_.Happens(0.5) ? 0 : chance_.Pick(3));
  wish.steps = chance_.Happens(0.5) ? 20 + chance_.Pick(200) : 1'000'000;
  SubmitJob submit;
  v1::Job* job = submit.record.mutable_job();
  job->set_name(name);
  job->set_uid(name);
  submit.record.set_secret("secret");
  v1::JobSpec* spec = job->mutable_status()->mutable_resolved_spec();
  spec->mutable_training()->set_global_batch(12);
  spec->mutable_training()->set_micro_batch(1);
  spec->mutable_training()->set_steps(wish.steps);
  spec->mutable_training()->set_reduce("exact");
  spec->mutable_training()->set_precision("fp32");
  spec->mutable_training()->set_optimizer_state("whole");
  spec->mutable_checkpoint()->set_store("s");
  spec->mutable_workers()->set_min(wish.min);
  spec->mutable_workers()->set_max(wish.max);
  spec->set_priority(wish.priority);
  job->mutable_status()->set_submitted_at(now_);
  Note(absl::StrCat("user submits ", name, " of priority ", wish.priority, ", ", wish.min, " to ", wish.max));
  wishes_[name] = wish;
  Feed(submit);
}

void Market::Disturb() {
  changed_at_ = now_;
  if (chance_.Happens(0.02)) Submit();
  if (chance_.Happens(0.002) && !wishes_.empty()) {
    const std::string uid = absl::StrCat("j", chance_.Pick(static_cast<int>(wishes_.size())));
    Note(absl::StrCat("user cancels ", uid));
    Feed(CancelJob{uid});
  }
  if (chance_.Happens(0.005)) {
    auto pool = pools_.begin();
    std::advance(pool, chance_.Pick(static_cast<int>(pools_.size())));
    pool->second.market = chance_.Pick(pool->second.max + 1);
    Note(absl::StrCat("the market of ", pool->first, " has ", pool->second.market));
  }
  if (chance_.Happens(0.002)) {
    Note("the coordinator is killed");
    Start();
    CountAnew();
  }
}

// Begins anew to measure for how long jobs starve, after an event that delays them: a new coordinator first has to find
// out which nodes and trainers are there, and a job that was to give nodes up may have lost them.
void Market::CountAnew() {
  for (auto& [uid, wish] : wishes_) wish.starved = false;
}

// Gives each pool as many machines as are ordered, as far as its market has them, and reports where it has fewer.
void Market::Provide() {
  for (auto& [name, pool] : pools_) {
    std::vector<std::string> there;
    for (const auto& [machine, state] : machines_) {
      if (state.pool == name) there.push_back(machine);
    }
    for (; static_cast<int>(there.size()) > pool.market; there.pop_back()) {
      Note(absl::StrCat(there.back(), " is taken"));
      machines_.erase(there.back());
      CountAnew();
    }
    const auto before = there.size();
    while (static_cast<int>(there.size()) < std::min(pool.ordered, pool.market)) {
      there.push_back(absl::StrCat(name, 100 + ++pool.made));
      machines_[there.back()] = {.pool = name, .ready_at = now_ + chance_.Uniform(1, 10), .jobs = {}, .report = {}};
    }
    const bool refuses = pool.ordered > pool.market;
    // Once one of the machines that the coordinator asks about has ended, the provider reports more often.
    const bool has_ended = std::any_of(pool.doubted.begin(), pool.doubted.end(),
                                       [&](const std::string& machine) { return machines_.count(machine) == 0; });
    const bool refused_before = std::exchange(pool.refuses, refuses);
    if (refuses != refused_before || before != there.size() || chance_.Happens(has_ended ? 0.5 : 0.05)) {
      PoolReported report{.pool = name, .running = static_cast<int>(there.size())};
      for (const std::string& machine : there) {
        report.machines.push_back({.id = machine, .node = machine, .running = machines_[machine].ready_at <= now_});
      }
      if (refuses) report.trouble = PoolTrouble::kNoCapacity;
      for (const std::string& machine : pool.doubted) {
        if (machines_.count(machine) == 0) report.ended.push_back(machine);
      }
      Feed(report);
    }
  }
}

void Market::Tick() {
  for (int i = 0; wake_at_ <= now_ && i < 100; ++i) Feed(core::Tick{});
}

}  // namespace rekindle::core::simulation
