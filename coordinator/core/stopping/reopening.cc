#include "coordinator/core/stopping/reopening.h"

#include "absl/strings/str_cat.h"
#include "coordinator/core/keeping/forgetting.h"
#include "coordinator/core/record/found_jobs.h"
#include "coordinator/core/stopping/halting.h"

namespace rekindle::core {

absl::Status Reopen(Turn& turn, const std::string& uid) {
  Job& job = turn.state.jobs.at(uid);
  const std::string& name = job.record.job().name();
  const auto newest = turn.state.newest.find(name);
  const bool is_taken =
      newest != turn.state.newest.end() && newest->second != uid && !IsOver(turn.state.jobs.at(newest->second));
  if (is_taken || FindFound(turn.state, name) != nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", name, " cannot go on, because another job has its name now: `rekindle cancel ", name,
                     "` ends that one"));
  }
  if (const std::string node = RunsOn(turn.state, uid); !node.empty()) {
    return absl::FailedPreconditionError(absl::StrCat("job ", name, " has failed, and node ", node,
                                                      " has not stopped its trainer yet: try again in some seconds"));
  }
  // What was learned from the trainers of before does not hold for new ones. Only the number of a generation that is
  // above the record's is still needed, because no later generation may have it.
  const int newest_generation = job.record.membership().generation();
  std::erase_if(job.trainers,
                [&](const auto& trainer) { return trainer.second.report.generation() <= newest_generation; });
  job.record.clear_deaths();
  job.ahead.clear();
  job.start_failures.clear();
  job.giving_up.clear();
  // The units of before say nothing of nodes that the job is to have now.
  job.wishes.units.clear();
  job.record.clear_units();
  job.regroup = {};
  job.regroup.forming.since = turn.now;
  v1::JobStatus* status = job.record.mutable_job()->mutable_status();
  status->clear_finished_at();
  status->clear_traceback();
  job.record.set_want_paused(true);
  SetStopped(turn, job, v1::PAUSED);
  ReleaseNodes(turn, job, "was given back when the job had failed");
  return absl::OkStatus();
}

}  // namespace rekindle::core
