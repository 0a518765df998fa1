#include "tests/simulation/users/recovered_jobs.h"

#include <algorithm>

namespace rekindle::core::simulation {
namespace {

constexpr double kLookSeconds = 15;

}  // namespace

void RecoveredJobs::Follow(SimJob& job) {
  world_.After(kLookSeconds, [this, &job] { LookForOld(job); });
}

void RecoveredJobs::LookForOld(SimJob& job) {
  const v1::JobRecord& record = coordinator_.records().jobs.at(job.uid);
  // While the job was being recovered, the coordinator refused the user's requests, so a job that is still paused is
  // resumed now.
  if (!record.has_recovered()) {
    if (!world_.chaos && coordinator_.is_up() && record.want_paused()) coordinator_.Feed(ResumeJob{.uid = job.uid});
    return;
  }
  Follow(job);
  const bool any_lives = std::any_of(world_.processes.begin(), world_.processes.end(), [&](const auto& entry) {
    const Process& process = entry.second;
    const v1::TrainerPhase phase = process.report.phase();
    return process.alive && process.job == &job && phase != v1::TRAINER_STARTING && phase != v1::TRAINER_READY &&
           process.report.generation() >= coordinator_.records().jobs.at(job.uid).store_generation();
  });
  if (any_lives || !coordinator_.is_up()) return;
  world_.journal.Count(Fault::kOldGivenUp);
  coordinator_.Feed(ResumeJob{.uid = job.uid, .old_is_gone = true});
}

}  // namespace rekindle::core::simulation
