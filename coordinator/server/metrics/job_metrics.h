// Counts what happens to jobs as they change, for the metrics page.
#ifndef REKINDLE_COORDINATOR_SERVER_METRICS_JOB_METRICS_H_
#define REKINDLE_COORDINATOR_SERVER_METRICS_JOB_METRICS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/metrics/metrics.h"
#include "coordinator/server/metrics/job_times.h"
#include "coordinator/server/metrics/job_totals.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// This class is thread-compatible: the loop's thread owns it.
class JobMetrics {
 public:
  // The caller keeps the ownership of `metrics`, which must outlive this object.
  explicit JobMetrics(common::Metrics* metrics);

  // `before` is null for a job that is seen for the first time: what it has done by then is not counted again. `events`
  // are those that are published with the change. `now` is in Unix seconds.
  void Update(const v1::Job* before, const v1::Job& after, const std::vector<v1::Event>& events, double now);
  // Drops the job, which is not shown any more.
  void Forget(const std::string& uid);

  JobTotals& totals() { return totals_; }
  const JobTotals& totals() const { return totals_; }
  // Returns whether the sums over all jobs may be shown. Jobs that trained when the coordinator was started have
  // records that are behind what was shown before, until each of them has reported. Sums that fall would be taken for a
  // new beginning.
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
  // The value in `unheard_` is the Unix time since when the job is not heard, by uid.
  std::map<std::string, double> unheard_;
  // The values of `measured_faults_` are the generations whose faults are counted already, by uid.
  std::map<std::string, std::set<int>> measured_faults_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_METRICS_JOB_METRICS_H_
