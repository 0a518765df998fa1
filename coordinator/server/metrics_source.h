// What the coordinator's page of metrics looks up when somebody asks for it: facts of the loop, as samples.
#ifndef REKINDLE_COORDINATOR_SERVER_METRICS_SOURCE_H_
#define REKINDLE_COORDINATOR_SERVER_METRICS_SOURCE_H_

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/metric_samples.h"
#include "coordinator/server/loop.h"
#include "coordinator/server/metrics/fleet_samples.h"
#include "coordinator/server/metrics/job_samples.h"
#include "coordinator/server/metrics/job_totals.h"

namespace rekindle::coordinator {

// Thread-safe.
class MetricsSource {
 public:
  // So often, in seconds, is the loop asked at most, however many ask for the page, and so long is it waited for.
  static constexpr double kFreshSeconds = 0.25;
  static constexpr double kPatienceSeconds = 2;

  // The loop is not owned and outlives it.
  explicit MetricsSource(Loop* loop) : loop_(loop) {}

  // Where the loop does not answer in time it says so, and none of what the loop would have told.
  void Add(common::MetricSamples& samples);

 private:
  // What was true at one moment. Nothing in it changes any more.
  struct Facts {
    double now = 0;  // Unix seconds.
    FleetFacts fleet;
    std::map<v1::JobState, int> states;  // The number of jobs in each state.
    std::vector<LiveJob> live;
    JobSums sums;
    bool sums_settled = false;
    std::vector<std::pair<std::string, std::string>> guessed;  // Uid and name of jobs whose events know more.
  };

  static Facts Look(const Loop& loop);  // On the loop's thread.
  std::shared_ptr<const Facts> Ask() const;
  // Tells the loop what the events of these jobs say; false: there is nothing to tell.
  bool Recall(const Facts& facts);

  Loop* const loop_;
  std::mutex mutex_;
  std::shared_ptr<const Facts> facts_;  // Null: it did not answer.
  double asked_at_ = 0;
  JobSums shown_;  // What was shown never falls.
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_METRICS_SOURCE_H_
