// Writes the metrics of each job that is not over. At most kListedJobs jobs have series of their own.
#ifndef REKINDLE_COORDINATOR_SERVER_METRICS_JOB_SAMPLES_H_
#define REKINDLE_COORDINATOR_SERVER_METRICS_JOB_SAMPLES_H_

#include <memory>
#include <vector>

#include "common/metrics/metric_samples.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// At most `kListedJobs` jobs have series of their own. Jobs that train come first, and then those that were submitted
// first.
inline constexpr size_t kListedJobs = 500;

// Describes a job that is not over. `waits_since` and `unsaved_since` are Unix seconds, as JobTimes gives them.
struct LiveJob {
  std::shared_ptr<const v1::Job> job;
  double waits_since = 0;
  double unsaved_since = 0;
};

// Writes the metrics of the jobs. `now` is in Unix seconds.
void AddJobSamples(std::vector<LiveJob> jobs, double now, common::MetricSamples& samples);

// Writes how many jobs wait for workers, and how long the oldest of them has waited.
void AddQueueSamples(const std::vector<LiveJob>& jobs, double now, common::MetricSamples& samples);

// Returns the wanted number of seconds between two durable checkpoints of the job. Returns 0 when that is not known, or
// when there are no checkpoints.
double CheckpointIntervalOf(const v1::JobStatus& status);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_METRICS_JOB_SAMPLES_H_
