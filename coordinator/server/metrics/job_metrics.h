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

// JobMetrics is thread-compatible: the loop's thread owns it.
class JobMetrics {
 public:
  // The caller keeps the ownership of `metrics`, which must outlive this object.
  explicit JobMetrics(common::Metrics* metrics);

  // Counts the difference between two states of a job. `before` is null for a job that is seen for the first time: what
  // it has done by then is not counted again. `events` are those that are published with the change. `now` is in Unix
  // seconds.
  void Update(const v1::Job* before, const v1::Job& after, const std::vector<v1::Event>& events, double now);
  // Drops all that is kept of the job, because the coordinator has forgotten the job.
  void Forget(const std::string& uid);

  JobTotals& totals() { return totals_; }
  const JobTotals& totals() const { return totals_; }
  // Returns whether the sums over all jobs may be shown. After a restart of the coordinator, the record of a job that
  // trains is older than what the metrics page showed before, until the job has reported a step. The sums must not
  // fall, because a reader of the page would take a fall for a counter that began again at 0.
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
  // `unheard_` maps a job's uid to the Unix time since when no step of the job was heard of.
  std::map<std::string, double> unheard_;
  // `measured_faults_` maps a job's uid to the generations whose faults are counted already.
  std::map<std::string, std::set<int>> measured_faults_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_METRICS_JOB_METRICS_H_
