// Sums over all jobs there ever were. The sums of jobs that the coordinator has forgotten are saved, so that the totals
// continue where they were when the coordinator is started again.
#ifndef REKINDLE_COORDINATOR_SERVER_METRICS_JOB_TOTALS_H_
#define REKINDLE_COORDINATOR_SERVER_METRICS_JOB_TOTALS_H_

#include <map>
#include <set>
#include <string>

#include "common/metrics/metric_samples.h"
#include "coordinator/store/state_store.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

struct JobSums {
  double steps = 0;
  double steps_redone = 0;
  double micro_batches_redone = 0;
  double skipped_steps = 0;
  double checkpoints_failed = 0;
  double node_hours = 0;
  double kg_co2 = 0;
  // The key of `cost` is the currency.
  std::map<std::string, double> cost;

  void Add(const v1::JobStatus& status);
  void Add(const JobSums& other);
  // Takes the larger of both values for each sum.
  void Raise(const JobSums& other);
  bool operator==(const JobSums&) const = default;
};

std::string ToText(const JobSums& sums);
// Returns DATA_LOSS when the text is not one that ToText has written.
absl::StatusOr<JobSums> ParseJobSums(const std::string& text);

// Adds the sums to the metrics page as counters.
void AddTotals(const JobSums& sums, common::MetricSamples& samples);

// This class is thread-compatible.
class JobTotals {
 public:
  // Reads what the store keeps of forgotten jobs. It must be called once, before anything else. If the record cannot be
  // read, the sums begin anew and the log says so. It returns only errors of the store.
  absl::Status Load(StateStore& store);
  // Takes in a job that is kept and not shown yet, with `job` as it was read.
  void Restore(const v1::Job& job) { restored_[job.uid()].Add(job.status()); }
  // Says that all restored jobs are shown by now, or gone.
  void EndRestoring() { restored_.clear(); }

  // Adds a job that is forgotten to the saved sums. `job` is the job as it was shown, or null when it never was.
  // Returns what has to become durable in the same transaction.
  Write Forget(const std::string& uid, const v1::Job* job);
  // Takes note that the job is not among the kept ones any more.
  void Gone(const std::string& uid) { leaving_.erase(uid); }

  // `kept` is a map with any keys, whose values are pointers to jobs.
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
  // The keys of `restored_` are uids.
  std::map<std::string, JobSums> restored_;
  // `leaving_` holds the uids of jobs that are in the saved sums and still among the kept jobs.
  std::set<std::string> leaving_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_METRICS_JOB_TOTALS_H_
