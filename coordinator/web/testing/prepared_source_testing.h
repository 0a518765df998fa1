// Provides the data of a made-up cluster of any size for tests, without a coordinator.
#ifndef REKINDLE_COORDINATOR_WEB_TESTING_PREPARED_SOURCE_TESTING_H_
#define REKINDLE_COORDINATOR_WEB_TESTING_PREPARED_SOURCE_TESTING_H_

#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/sync/mutex.h"
#include "coordinator/web/parts/source.h"

namespace rekindle::coordinator::web {

inline v1::Job PreparedJob(int number, int of, int curve_points = 400) {
  static const v1::JobState states[] = {v1::RUNNING,   v1::SUCCEEDED, v1::SUCCEEDED, v1::PENDING,
                                        v1::SUCCEEDED, v1::FAILED,    v1::PAUSED,    v1::CANCELLED};
  v1::Job job;
  job.set_name(absl::StrFormat("job-%05d", number));
  job.set_uid(absl::StrFormat("%032x", number));
  v1::JobStatus& status = *job.mutable_status();
  status.set_state(states[number % 8]);
  status.set_reason("waits for nothing; it was made for a test");
  status.set_last_event("shrank 3 to 2: trainer n1/0 was killed by signal 9 (Killed) (agent of n1)");
  v1::JobSpec& spec = *status.mutable_resolved_spec();
  spec.set_team(absl::StrCat("team-", number % 40));
  spec.set_priority(number % 7);
  spec.mutable_training()->set_steps(10'000);
  spec.mutable_workers()->set_min(1);
  spec.mutable_workers()->set_max(8);
  spec.mutable_model()->set_kind("gpt");
  *spec.mutable_checkpoint()->mutable_store() = "s3://bucket/prefix";
  status.set_step(1 + (number * 7919) % 10'000);
  status.set_loss(2 + std::sin(number));
  status.set_tokens_per_second(1000.0 + number);
  status.set_step_seconds(0.2);
  status.set_generation(3);
  status.set_submitted_at(1.76e9 + number);
  for (int i = 0; i < curve_points; ++i) {
    v1::LossPoint& point = *status.add_loss_curve();
    point.set_step(i * 20);
    point.set_value(6 - 4.0 * i / curve_points);
  }
  for (int rank = 0; rank < 3; ++rank) {
    v1::MemberStatus& member = *status.add_members();
    member.set_rank(rank);
    member.set_trainer(absl::StrCat("node-", rank, "/0/incarnation"));
    member.set_node(absl::StrCat("node-", rank));
    member.set_micro_batch_begin(4 * rank);
    member.set_micro_batch_end(4 * rank + 4);
  }
  v1::Cost& cost = *status.mutable_cost();
  cost.set_spent(number % 1000 + 0.5);
  cost.set_rate(status.state() == v1::RUNNING ? 1.5 : 0);
  cost.set_on_demand(2 * cost.spent());
  cost.set_currency("USD");
  cost.set_until(1.76e9 + of);
  return job;
}

inline v1::Node PreparedNode(int number) {
  v1::Node node;
  node.set_name(absl::StrFormat("node-%05d", number));
  node.set_incarnation(absl::StrFormat("%032x", number));
  node.set_state(number % 50 == 49 ? "lost" : "ready");
  node.set_slots(8);
  for (int i = 0; i < number % 9; ++i) node.add_trainers(absl::StrCat(node.name(), "/", i, "/incarnation"));
  node.set_last_seen_seconds(number % 10 / 10.0);
  node.set_version("0.1.0");
  node.set_zone(absl::StrCat("zone-", number % 6));
  node.set_pool(absl::StrCat("pool-", number % 12));
  node.set_capacity("spot");
  return node;
}

// A PreparedSource is thread-safe.
class PreparedSource final : public Source {
 public:
  PreparedSource(int jobs, int nodes, int curve_points = 400) {
    for (int i = 0; i < jobs; ++i) SetJob(PreparedJob(i, jobs, curve_points));
    for (int i = 0; i < nodes; ++i) nodes_.push_back(PreparedNode(i));
    pools_.currency = "USD";
    for (int i = 0; i < 12; ++i) {
      PoolFacts& pool = pools_.pools.emplace_back();
      pool.name = absl::StrCat("pool-", i);
      pool.capacity = "spot";
      pool.price = 0.5 + i;
      pool.carbon_region = "ES";
      if (i % 2 == 0) pool.intensity = 180 + i;
    }
  }

  absl::StatusOr<std::vector<JobPointer>> Jobs() override {
    ++asked;
    const common::MutexLock lock(mutex_);
    if (!trouble_.ok()) return trouble_;
    return jobs_;
  }
  absl::StatusOr<JobPointer> FindJob(const std::string& name_or_uid) override {
    ++asked;
    const common::MutexLock lock(mutex_);
    if (!trouble_.ok()) return trouble_;
    for (const JobPointer& job : jobs_) {
      if (job->name() == name_or_uid || job->uid() == name_or_uid) return job;
    }
    return absl::NotFoundError(absl::StrCat("no job '", name_or_uid, "'"));
  }
  absl::StatusOr<std::vector<v1::Node>> Nodes() override {
    ++asked;
    const common::MutexLock lock(mutex_);
    if (!trouble_.ok()) return trouble_;
    return nodes_;
  }
  absl::StatusOr<PoolBook> Pools() override {
    const common::MutexLock lock(mutex_);
    return pools_;
  }
  absl::StatusOr<std::vector<v1::Event>> Events(int32_t after, const std::string& job, int limit) override {
    ++asked;
    const common::MutexLock lock(mutex_);
    if (!trouble_.ok()) return trouble_;
    std::vector<v1::Event> found;
    for (const v1::Event& event : events_) {
      if (event.revision() <= after || (!job.empty() && event.job() != job)) continue;
      if (static_cast<int>(found.size()) == limit) break;
      found.push_back(event);
    }
    return found;
  }
  absl::StatusOr<int32_t> LastEvent() override {
    const common::MutexLock lock(mutex_);
    return events_.empty() ? 0 : events_.back().revision();
  }

  void SetJob(const v1::Job& job) {
    const common::MutexLock lock(mutex_);
    const auto [place, is_new] = places_.try_emplace(job.uid(), jobs_.size());
    if (is_new) jobs_.emplace_back();
    jobs_[place->second] = std::make_shared<const v1::Job>(job);
  }
  void AddEvent(const std::string& job, const std::string& kind = "started") {
    const common::MutexLock lock(mutex_);
    v1::Event event;
    event.set_revision((events_.empty() ? 0 : events_.back().revision()) + 1);
    event.set_job(job);
    event.set_kind(kind);
    event.set_text("it was made for a test");
    event.set_at(1.76e9 + event.revision());
    events_.push_back(event);
  }
  // Makes all questions fail with `trouble`, until SetTrouble is called with OK.
  void SetTrouble(const absl::Status& trouble) {
    const common::MutexLock lock(mutex_);
    trouble_ = trouble;
  }

  std::atomic<int> asked{0};

 private:
  common::Mutex mutex_;
  std::vector<JobPointer> jobs_ ABSL_GUARDED_BY(mutex_);
  // `places_` has the index in `jobs_` of each job by its uid.
  std::unordered_map<std::string, size_t> places_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::Node> nodes_ ABSL_GUARDED_BY(mutex_);
  PoolBook pools_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::Event> events_ ABSL_GUARDED_BY(mutex_);
  absl::Status trouble_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_TESTING_PREPARED_SOURCE_TESTING_H_
