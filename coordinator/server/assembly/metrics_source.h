// Makes samples of what the loop knows, when somebody asks for the coordinator's metrics page.
#ifndef REKINDLE_COORDINATOR_SERVER_ASSEMBLY_METRICS_SOURCE_H_
#define REKINDLE_COORDINATOR_SERVER_ASSEMBLY_METRICS_SOURCE_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/metrics/metric_samples.h"
#include "common/sync/mutex.h"
#include "coordinator/server/loop/loop.h"
#include "coordinator/server/metrics/fleet_samples.h"
#include "coordinator/server/metrics/job_samples.h"
#include "coordinator/server/metrics/job_totals.h"

namespace rekindle::coordinator {

// MetricsSource is thread-safe.
class MetricsSource {
 public:
  // The loop is asked at most every kFreshSeconds, however many ask for the page. Its answer is awaited for at most
  // kPatienceSeconds.
  static constexpr double kFreshSeconds = 0.25;
  static constexpr double kPatienceSeconds = 2;

  // The caller keeps the ownership of the loop, which must outlive this object.
  explicit MetricsSource(Loop* loop) : loop_(loop) {}

  // Adds the coordinator's samples. If the loop does not answer in time, the only sample says so.
  void Add(common::MetricSamples& samples);

 private:
  // Holds what the loop knew at one moment. Nobody changes it afterwards.
  struct Facts {
    // `now` is when the loop told what it knew, in Unix seconds.
    double now = 0;
    FleetFacts fleet;
    // `states` holds the number of jobs in each state.
    std::map<v1::JobState, int> states;
    std::vector<LiveJob> live;
    JobSums sums;
    bool sums_settled = false;
    // `guessed` holds the uid and the name of each job for which the time of the last save is a guess. The job's events
    // may tell the right time.
    std::vector<std::pair<std::string, std::string>> guessed;
  };

  // Returns what the loop knows now. CollectFacts must be called on the loop's thread.
  static Facts CollectFacts(const Loop& loop);
  std::shared_ptr<const Facts> Ask() const;
  // Reads the events of the jobs in facts.guessed, and tells the loop since when each of these jobs has saved nothing.
  // Returns whether the loop was told anything.
  bool Recall(const Facts& facts);

  Loop* const loop_;
  common::Mutex mutex_;
  // `facts_` is the newest answer of the loop. It is null when the loop did not answer.
  std::shared_ptr<const Facts> facts_ ABSL_GUARDED_BY(mutex_);
  double asked_at_ ABSL_GUARDED_BY(mutex_) = 0;
  // `shown_` holds the largest value that each sum had on the metrics page, so that no sum falls once it was shown.
  JobSums shown_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_ASSEMBLY_METRICS_SOURCE_H_
