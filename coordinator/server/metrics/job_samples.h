// What the page says of each job that is not over. At most kListedJobs of them have series of their own.
#ifndef REKINDLE_COORDINATOR_SERVER_METRICS_JOB_SAMPLES_H_
#define REKINDLE_COORDINATOR_SERVER_METRICS_JOB_SAMPLES_H_

#include <memory>
#include <vector>

#include "common/metric_samples.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// Those that train first, then those that were submitted first.
inline constexpr size_t kListedJobs = 500;

// One that is not over, and since when, in Unix seconds: see JobTimes.
struct LiveJob {
  std::shared_ptr<const v1::Job> job;
  double waits_since = 0;
  double unsaved_since = 0;
};

// `now`: Unix seconds.
void AddJobSamples(std::vector<LiveJob> jobs, double now, common::MetricSamples& samples);

// How long the queue is, and how long the one that has waited longest does.
void AddQueueSamples(const std::vector<LiveJob>& jobs, double now, common::MetricSamples& samples);

// How often a checkpoint is to be durable, in seconds, as far as is known; 0: not known, or never.
double CheckpointIntervalOf(const v1::JobStatus& status);

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_METRICS_JOB_SAMPLES_H_
