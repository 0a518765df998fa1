#include "coordinator/server/assembly/metrics_source.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "coordinator/market/prices.h"

namespace rekindle::coordinator {
namespace {

// The number of events that are read at once is limited, because nobody else can use the store meanwhile.
constexpr int kEventsAtOnce = 1000;
// The events of at most `kJobsAtOnce` jobs are read each time that somebody asks for the metrics page. Further jobs
// wait for the next time.
constexpr int kJobsAtOnce = 20;

constexpr v1::JobState kStates[] = {v1::PENDING, v1::RUNNING,   v1::PAUSED,    v1::SUCCEEDED,
                                    v1::FAILED,  v1::CANCELLED, v1::FINISHING, v1::FOUND};

FleetFacts FleetOf(const Loop& loop, double now) {
  FleetFacts fleet;
  fleet.nodes = loop.cluster().Nodes(loop.core_now());
  const core::PriceBook& prices = loop.cluster().Prices();
  fleet.currency = prices.currency;
  for (const auto& [name, pool] : prices.pools) {
    PoolFacts& facts = fleet.pools[name];
    facts.in_fleet_file = true;
    facts.capacity = pool.capacity;
    facts.price_per_hour = core::PriceAt(pool.price, now);
    facts.slots_per_node = std::max(1, pool.devices);
    facts.takes_orders = pool.ordered;
  }
  for (const auto& [name, record] : loop.pools().pools()) {
    PoolFacts& facts = fleet.pools[name];
    facts.takes_orders = true;
    facts.avoided = record.avoid_until() > now;
    facts.never_registered = record.never_registered().machines();
    facts.never_registered_cost = record.never_registered().spent();
  }
  for (const auto& [name, provided] : loop.pools().provided()) {
    PoolFacts& facts = fleet.pools[name];
    facts.takes_orders = true;
    facts.nodes_ordered = provided.nodes_ordered;
    facts.machines_running = provided.machines_running;
    facts.trouble = provided.trouble;
  }
  return fleet;
}

double UnsavedSinceByEvents(StateStore& store, const std::string& job) {
  double since = 0;
  for (int32_t after = 0;;) {
    const absl::StatusOr<std::vector<v1::Event>> events = store.Events(after, job, kEventsAtOnce);
    if (!events.ok()) return since;
    for (const v1::Event& event : *events) {
      // Events before the job was submitted belong to an earlier job of the same name.
      if (event.kind() == "submitted") since = 0;
      since = std::max(since, UnsavedSinceBy(event));
    }
    if (events->size() < kEventsAtOnce) return since;
    after = events->back().revision();
  }
}

}  // namespace

MetricsSource::Facts MetricsSource::CollectFacts(const Loop& loop) {
  Facts facts;
  facts.now = loop.unix_now();
  facts.fleet = FleetOf(loop, facts.now);
  const JobTimes& times = loop.job_metrics().times();
  for (const auto& [uid, job] : loop.jobs().all()) {
    ++facts.states[job->status().state()];
    if (IsOver(*job)) continue;
    facts.live.push_back({job, times.WaitsSince(*job), times.UnsavedSince(*job)});
    if (facts.guessed.size() < kJobsAtOnce && times.IsGuessed(uid)) facts.guessed.emplace_back(uid, job->name());
  }
  facts.sums = loop.job_metrics().totals().Sum(loop.jobs().all());
  facts.sums_settled = loop.job_metrics().AreTotalsSettled(facts.now);
  return facts;
}

std::shared_ptr<const MetricsSource::Facts> MetricsSource::Ask() const {
  struct Answer {
    std::promise<void> given;
    Facts facts;
    bool there = false;
  };
  const auto answer = std::make_shared<Answer>();
  std::future<void> given = answer->given.get_future();
  const absl::Status posted = loop_->inbox().Post([loop = loop_, answer] {
    if (loop->ended().ok()) {
      answer->facts = CollectFacts(*loop);
      answer->there = true;
    }
    answer->given.set_value();
  });
  if (!posted.ok()) return nullptr;
  if (given.wait_for(std::chrono::duration<double>(kPatienceSeconds)) != std::future_status::ready) return nullptr;
  if (!answer->there) return nullptr;
  return std::shared_ptr<const Facts>(answer, &answer->facts);
}

bool MetricsSource::Recall(const Facts& facts) {
  if (facts.guessed.empty()) return false;
  std::vector<std::pair<std::string, double>> recalled;
  for (const auto& [uid, name] : facts.guessed) {
    recalled.emplace_back(uid, UnsavedSinceByEvents(loop_->store(), name));
  }
  return loop_->inbox()
      .Post([loop = loop_, recalled = std::move(recalled)] {
        for (const auto& [uid, since] : recalled) loop->job_metrics().times().Recall(uid, since);
      })
      .ok();
}

void MetricsSource::Add(common::MetricSamples& samples) {
  const common::MutexLock lock(mutex_);
  if (asked_at_ == 0 || common::SteadySeconds() >= asked_at_ + kFreshSeconds) {
    facts_ = Ask();
    if (facts_ != nullptr && Recall(*facts_)) facts_ = Ask();
    asked_at_ = common::SteadySeconds();
  }
  samples.Gauge(
      "rekindle_coordinator_responsive",
      "1: what the coordinator decides with has answered; else it hangs, has too much to do, or was superseded.",
      facts_ == nullptr ? 0 : 1);
  if (facts_ == nullptr) return;
  for (const v1::JobState state : kStates) {
    const auto found = facts_->states.find(state);
    samples.Gauge("rekindle_jobs", "Jobs by state.", found == facts_->states.end() ? 0 : found->second,
                  {{"state", absl::AsciiStrToLower(v1::JobState_Name(state))}});
  }
  AddFleetSamples(facts_->fleet, samples);
  AddQueueSamples(facts_->live, facts_->now, samples);
  AddJobSamples(facts_->live, facts_->now, samples);
  if (!facts_->sums_settled) return;
  shown_.Raise(facts_->sums);
  AddTotals(shown_, samples);
}

}  // namespace rekindle::coordinator
