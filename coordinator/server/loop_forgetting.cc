// The loop forgets what the core has forgotten.
#include <optional>

#include "coordinator/server/loop.h"

namespace rekindle::coordinator {

void Loop::AbsorbForgotten(const core::Effects& effects) {
  std::vector<std::string>& jobs = unpublished_.forgotten_jobs;
  jobs.insert(jobs.end(), effects.forget_jobs.begin(), effects.forget_jobs.end());
  for (const std::string& uid : effects.forget_jobs) {
    journal_.Add(std::vector<Write>{job_metrics_.totals().Forget(uid, jobs_.Find(uid).get())});
  }
  crowded_out_.Increment(effects.crowded_out);
}

void Loop::ForgetJobs() {
  for (const std::string& uid : unpublished_.forgotten_jobs) {
    if (cluster_.FindJob(uid) != nullptr) continue;  // It was taken over from its trainers since.
    job_metrics_.Forget(uid);
    jobs_.Forget(uid);
    job_files_.Forget(uid);
    leases_.Forget(uid);
    leases_.SetSpending(uid, std::nullopt);
    bulletin_.Forget("job/" + uid);  // Whoever watches it is told that there is none.
    options_.on_forgotten(uid);
  }
}

}  // namespace rekindle::coordinator
