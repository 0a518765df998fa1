// Sums over all jobs there ever were: those that the coordinator keeps, and those that it has forgotten, whose sums it
// keeps. So they go on where they were when the coordinator is started again.
#ifndef REKINDLE_COORDINATOR_SERVER_METRICS_JOB_TOTALS_H_
#define REKINDLE_COORDINATOR_SERVER_METRICS_JOB_TOTALS_H_

#include <map>
#include <set>
#include <string>

#include "common/metric_samples.h"
#include "coordinator/state_store.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// Plain values.
struct JobSums {
  double steps = 0;
  double steps_redone = 0;
  double micro_batches_redone = 0;
  double skipped_steps = 0;
  double checkpoints_failed = 0;
  double node_hours = 0;
  double kg_co2 = 0;
  std::map<std::string, double> cost;  // By currency.

  void Add(const v1::JobStatus& status);
  void Add(const JobSums& other);
  // The larger one of each.
  void Raise(const JobSums& other);
  bool operator==(const JobSums&) const = default;
};

std::string ToText(const JobSums& sums);
// DATA_LOSS where it is no such text.
absl::StatusOr<JobSums> ParseJobSums(const std::string& text);

// As counters.
void AddTotals(const JobSums& sums, common::MetricSamples& samples);

// Thread-compatible.
class JobTotals {
 public:
  // Once, first: what the store keeps of forgotten jobs. Where that cannot be read, sums begin anew, which the log
  // tells. Errors are the store's.
  absl::Status Load(StateStore& store);
  // Jobs that are kept and not shown yet; `job` as it was read.
  void Restore(const v1::Job& job) { restored_[job.uid()].Add(job.status()); }
  // All of these are shown by now, or gone.
  void EndRestoring() { restored_.clear(); }

  // Takes in a job that is forgotten, `job` as it was shown; null: it never was. Gives what is to be durable in the
  // same transaction.
  Write Forget(const std::string& uid, const v1::Job* job);
  // It is not among the kept ones any more.
  void Gone(const std::string& uid) { leaving_.erase(uid); }

  // `kept`: pointers to jobs, by anything.
  template <typename Jobs>
  JobSums Sum(const Jobs& kept) const {
    JobSums sums = forgotten_;
    for (const auto& [key, job] : kept) {
      if (!leaving_.contains(job->uid())) sums.Add(job->status());
    }
    return sums;
  }

 private:
  JobSums forgotten_;
  std::map<std::string, JobSums> restored_;  // By uid.
  std::set<std::string> leaving_;            // Uids: taken in, and not gone yet.
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_METRICS_JOB_TOTALS_H_
