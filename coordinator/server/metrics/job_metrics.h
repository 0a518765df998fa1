// What is counted as jobs change, for the page of metrics.
#ifndef REKINDLE_COORDINATOR_SERVER_METRICS_JOB_METRICS_H_
#define REKINDLE_COORDINATOR_SERVER_METRICS_JOB_METRICS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/metrics.h"
#include "coordinator/server/metrics/job_times.h"
#include "coordinator/server/metrics/job_totals.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// Thread-compatible: the loop's thread owns it.
class JobMetrics {
 public:
  // Metrics are not owned and outlive it.
  explicit JobMetrics(common::Metrics* metrics);

  // `before` is null for a job seen the first time: what it had done by then is not counted again. `events` are those
  // published with the change. `now`: Unix seconds.
  void Update(const v1::Job* before, const v1::Job& after, const std::vector<v1::Event>& events, double now);
  // It is not shown any more.
  void Forget(const std::string& uid);

  JobTotals& totals() { return totals_; }
  const JobTotals& totals() const { return totals_; }
  // Where jobs trained when the coordinator was started, its records are behind what was shown before, until each of
  // them has been heard of: sums that fall would be taken for a new beginning.
  bool AreTotalsSettled(double now) const;
  JobTimes& times() { return times_; }
  const JobTimes& times() const { return times_; }

 private:
  void CountFaults(const v1::Job* before, const v1::Job& after);

  common::Metrics* const metrics_;
  prometheus::Histogram& pause_seconds_;
  prometheus::Counter& checkpoints_saved_;
  JobTotals totals_;
  JobTimes times_;
  std::map<std::string, double> unheard_;                 // Since when, by uid.
  std::map<std::string, std::set<int>> measured_faults_;  // Generations, by uid.
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_METRICS_JOB_METRICS_H_
