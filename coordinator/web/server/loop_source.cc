#include "coordinator/web/server/loop_source.h"

#include <chrono>
#include <future>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/time/clock.h"

namespace rekindle::coordinator::web {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);

// Calls `read` on the loop's thread, and returns its result. If that takes too long, `read` may still be called after
// AskLoop has returned, so it must not refer to anything of the caller.
template <typename T>
absl::StatusOr<T> AskLoop(Loop* loop, std::function<absl::StatusOr<T>(Loop*)> read) {
  auto promise = std::make_shared<std::promise<absl::StatusOr<T>>>();
  std::future<absl::StatusOr<T>> answer = promise->get_future();
  const absl::Status posted =
      loop->inbox().Post([loop, promise, read = std::move(read)] { promise->set_value(read(loop)); });
  if (!posted.ok()) return posted;
  if (answer.wait_for(kPatience) != std::future_status::ready) {
    return absl::UnavailableError("the coordinator has too much to do: try again");
  }
  return answer.get();
}

PoolFacts FactsOf(const core::PriceBook& book, const std::string& name, const core::PoolPrices& prices, double now) {
  PoolFacts facts;
  facts.name = name;
  facts.capacity = prices.capacity;
  facts.instance_type = prices.instance_type;
  facts.device = prices.device;
  facts.ordered = prices.ordered;
  facts.min = prices.min;
  facts.max = prices.max;
  facts.price = core::PriceAt(prices.price, now);
  facts.price_from = core::KnownSince(prices, now);
  facts.stale = core::IsStale(book, prices, now);
  if (!prices.on_demand.empty()) facts.on_demand = core::PriceAt(prices.on_demand, now);
  facts.carbon_region = prices.carbon_region;
  return facts;
}

// Returns the pools of the fleet file, and those that took orders before they were removed from it.
PoolBook ReadPools(Loop* loop) {
  const core::PriceBook& prices = loop->cluster().Prices();
  const double now = common::WallSeconds();
  std::map<std::string, PoolFacts> pools;
  for (const auto& [name, pool] : prices.pools) pools[name] = FactsOf(prices, name, pool, now);
  for (const auto& [name, record] : loop->pools().pools()) {
    PoolFacts& facts = pools[name];
    if (facts.name.empty()) facts.capacity = "unpriced";
    facts.name = name;
    facts.never_registered = record.never_registered();
  }
  PoolBook book{.currency = prices.currency, .pools = {}};
  for (auto& [name, facts] : pools) book.pools.push_back(std::move(facts));
  return book;
}

}  // namespace

absl::StatusOr<std::vector<JobPointer>> LoopSource::Jobs() {
  return AskLoop<std::vector<JobPointer>>(loop_, [](Loop* loop) {
    std::vector<JobPointer> jobs;
    jobs.reserve(loop->jobs().all().size());
    for (const auto& [uid, job] : loop->jobs().all()) jobs.push_back(job);
    return jobs;
  });
}

absl::StatusOr<JobPointer> LoopSource::FindJob(const std::string& name_or_uid) {
  return AskLoop<JobPointer>(loop_, [name_or_uid](Loop* loop) -> absl::StatusOr<JobPointer> {
    JobPointer job = loop->jobs().Find(name_or_uid);
    if (job == nullptr) return absl::NotFoundError(absl::StrCat("no job '", name_or_uid.substr(0, 100), "'"));
    return job;
  });
}

absl::StatusOr<std::vector<v1::Node>> LoopSource::Nodes() {
  return AskLoop<std::vector<v1::Node>>(loop_, [](Loop* loop) { return loop->cluster().Nodes(loop->core_now()); });
}

absl::StatusOr<PoolBook> LoopSource::Pools() {
  absl::StatusOr<PoolBook> book = AskLoop<PoolBook>(loop_, [](Loop* loop) { return ReadPools(loop); });
  if (!book.ok()) return book;
  const std::map<std::string, double> intensities = intensities_();
  for (PoolFacts& pool : book->pools) {
    const auto found = intensities.find(pool.carbon_region);
    if (found != intensities.end()) pool.intensity = found->second;
  }
  return book;
}

absl::StatusOr<std::vector<v1::Event>> LoopSource::Events(int32_t after, const std::string& job, int limit) {
  return AskLoop<std::vector<v1::Event>>(
      loop_, [after, job, limit](Loop* loop) { return loop->store().Events(after, job, limit); });
}

absl::StatusOr<int32_t> LoopSource::LastEvent() {
  return AskLoop<int32_t>(loop_, [](Loop* loop) { return loop->store().LastEventRevision(); });
}

}  // namespace rekindle::coordinator::web
