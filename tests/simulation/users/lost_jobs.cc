#include "tests/simulation/users/lost_jobs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kLookSeconds = 1;
// Most users wait `kPatience` seconds before they ask for a found job to be taken over.
constexpr double kPatience = 20;

}  // namespace

void LostJobs::LookFor(SimJob& job) {
  job.lost.found = false;
  world_.Tell([&](Observer& observer) { observer.JobIsMissed(job, /*is_found=*/false); });
  FollowLater(job);
}

void LostJobs::FollowLater(SimJob& job) {
  world_.After(kLookSeconds, [this, &job, epoch = coordinator_.database().epoch()] {
    if (epoch == coordinator_.database().epoch()) Follow(job);
  });
}

void LostJobs::Follow(SimJob& job) {
  if (!job.submitted) return;
  if (coordinator_.records().HasJob(job.uid)) {
    // If the job's record was recovered from its store, the coordinator still waits to hear from the job's earlier
    // processes.
    if (coordinator_.records().jobs.at(job.uid).has_recovered()) recovered_jobs_.LookForOld(job);
    return;
  }
  FollowLater(job);
  const v1::JobRecord* known = coordinator_.Answers() ? coordinator_.core().FindJob(job.uid) : nullptr;
  if (known == nullptr) {
    world_.Tell([&](Observer& observer) { observer.JobIsMissed(job, /*is_found=*/false); });
    if (coordinator_.Answers() && !Lives(job)) Forsake(job);
    return;
  }
  // If the coordinator has the job again, it is saving the job's record.
  if (known->job().status().state() == v1::FOUND) FollowFound(job, *known);
}

bool LostJobs::Lives(const SimJob& job) const {
  return std::any_of(world_.processes.begin(), world_.processes.end(),
                     [&](const auto& entry) { return entry.second.alive && entry.second.job == &job; });
}

void LostJobs::FollowFound(SimJob& job, const v1::JobRecord& known) {
  if (!job.lost.found) {
    job.lost.found = true;
    job.lost.adopt_at = world_.now() + (world_.chance.Happens(0.4) ? 0 : kPatience);
  }
  world_.Tell([&](Observer& observer) { observer.JobIsMissed(job, /*is_found=*/true); });
  if (!world_.journal.violation().empty()) return;  // The schedule ends.
  const bool lives = Lives(job);
  if (lives && world_.now() < job.lost.adopt_at) return;
  if (!lives && known.secret().empty()) return GiveUp(job);
  // The members that are taken over decide which data is right.
  if (strangers_.AnyIsThere()) return strangers_.MendAll();
  world_.journal.Note(absl::StrCat("the user of ", job.uid, " asks to take it over"));
  coordinator_.Feed(AdoptJob{job.uid});
}

void LostJobs::Forsake(SimJob& job) {
  world_.journal.Note(absl::StrCat(job.uid, " is submitted anew"));
  world_.journal.Count(Fault::kSubmittedAnew);
  world_.Tell([&](Observer& observer) { observer.JobIsNew(job); });
  job.store.clear();
  job.lost = {};
  job.completed = 0;
  job.paused = false;
  // In the new job the first trainer to report decides which data and arithmetic are right, so all nodes get the right
  // data and arithmetic before.
  strangers_.MendAll();
  submitting_.Submit(job);
}

void LostJobs::GiveUp(SimJob& job) {
  world_.journal.Note(absl::StrCat(job.uid, " is given up"));
  job.submitted = false;
}

}  // namespace rekindle::core::simulation
