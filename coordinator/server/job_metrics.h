// Turns what is published about jobs into Prometheus metrics. Thread-compatible: the loop's thread owns it.
#ifndef REKINDLE_COORDINATOR_SERVER_JOB_METRICS_H_
#define REKINDLE_COORDINATOR_SERVER_JOB_METRICS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/metrics.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

class JobMetrics {
 public:
  explicit JobMetrics(common::Metrics* metrics);

  // `before` is null for a job seen the first time: what it had done by then is not counted again.
  // `events` are those published with the change.
  void Update(const v1::Job* before, const v1::Job& after, const std::vector<v1::Event>& events);
  // It is not shown any more.
  void Forget(const v1::Job& job);

 private:
  prometheus::Gauge& JobsLike(const v1::Job& job);
  void CountStragglers(const v1::Job& job, int sign);
  void ShowCost(const v1::Job& after);
  void CountFaults(const v1::Job* before, const v1::Job& after);

  common::Metrics* const metrics_;
  prometheus::Histogram& pause_seconds_;
  prometheus::Counter& steps_;
  prometheus::Counter& steps_redone_;
  prometheus::Counter& micro_batches_redone_;
  prometheus::Counter& skipped_steps_;
  prometheus::Counter& checkpoint_failures_;
  prometheus::Counter& spent_;
  std::map<std::string, std::set<int>> measured_faults_;  // Generations, by job uid.
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_JOB_METRICS_H_
