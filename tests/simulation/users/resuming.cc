#include "tests/simulation/users/resuming.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace rekindle::core::simulation {

void Resuming::PauseOrResume() {
  SimJob& job = world_.AnyJob();
  if (!job.submitted) return;
  job.paused = !job.paused;
  world_.journal.Note(absl::StrCat(job.paused ? "pause " : "resume ", job.uid));
  world_.journal.Count(job.paused ? Fault::kJobPaused : Fault::kJobResumed);
  if (job.paused) {
    coordinator_.Feed(PauseJob{job.uid});
  } else {
    coordinator_.Feed(ResumeJob{job.uid});
  }
}

void Resuming::ResumeAll() {
  if (coordinator_.core().IsListening()) {
    world_.After(1, [this] { ResumeAll(); });
    return;
  }
  std::vector<std::string> wanted;
  for (const auto& [uid, record] : coordinator_.records().jobs) {
    if (world_.jobs.at(uid).stopped) continue;  // A job stopped by its budget goes on when it may spend more.
    if (world_.jobs.at(uid).paused || record.want_paused()) wanted.push_back(uid);
  }
  // The coordinator may not know a paused job until it has heard its trainers.
  const bool all_known = std::all_of(world_.jobs.begin(), world_.jobs.end(), [&](const auto& entry) {
    return !entry.second.submitted || coordinator_.records().HasJob(entry.first);
  });
  if (wanted.empty() && all_known) return;
  for (const std::string& uid : wanted) {
    world_.jobs.at(uid).paused = false;
    coordinator_.Feed(ResumeJob{uid});
  }
  world_.After(1, [this] { ResumeAll(); });
}

}  // namespace rekindle::core::simulation
