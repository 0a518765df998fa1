// Keeps sums over all jobs there ever were. The sums of jobs that the coordinator has forgotten are saved, so that the
// totals continue where they were when the coordinator is started again.
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
  // `cost` maps a currency to what the jobs have cost in that currency.
  std::map<std::string, double> cost;

  void Add(const v1::JobStatus& status);
  void Add(const JobSums& other);
  // Sets each sum to the larger one of its own value and its value in `other`.
  void Raise(const JobSums& other);
  bool operator==(const JobSums&) const = default;
};

std::string ToText(const JobSums& sums);
// Returns the sums in a text that ToText has written, or DATA_LOSS when the text is not such a text.
absl::StatusOr<JobSums> ParseJobSums(const std::string& text);

// Adds the sums to the metrics page as counters.
void AddTotals(const JobSums& sums, common::MetricSamples& samples);

// JobTotals is thread-compatible.
class JobTotals {
 public:
  // Reads the sums over the forgotten jobs from the store. Load must be called once, before anything else. If the
  // record of the sums cannot be read, the sums begin anew and the log says so. Load returns only errors of the store.
  absl::Status Load(StateStore& store);
  // Remembers the sums of a job, in case the job is forgotten before the JobBoard has shown it. `job` is the job as it
  // was read from the store.
  void Restore(const v1::Job& job) { restored_[job.uid()].Add(job.status()); }
  // Forgets what Restore has remembered, because by now the JobBoard has shown each of these jobs, or the job is
  // forgotten.
  void EndRestoring() { restored_.clear(); }

  // Adds a job that is forgotten to the saved sums. `job` is the job as the JobBoard shows it, or null when the board
  // never showed it. Returns the write of the saved sums, which has to be in the same transaction as the deletion of
  // the job's record.
  Write Forget(const std::string& uid, const v1::Job* job);
  // Takes note that the JobBoard does not show the job any more.
  void Gone(const std::string& uid) { leaving_.erase(uid); }

  // Returns the sums over the forgotten jobs and those in `kept`. `kept` is a map with any keys, whose values are
  // pointers to jobs.
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
  // `restored_` maps the uid of a job to the sums of the job that Restore has remembered.
  std::map<std::string, JobSums> restored_;
  // `leaving_` holds the uids of jobs that are in the saved sums already, although the JobBoard still shows them.
  std::set<std::string> leaving_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_METRICS_JOB_TOTALS_H_
