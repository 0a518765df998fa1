// Models the users of jobs of which the coordinator has no record. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_USERS_LOST_JOBS_H_
#define REKINDLE_TESTS_SIMULATION_USERS_LOST_JOBS_H_

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/nodes/strangers.h"
#include "tests/simulation/users/recovered_jobs.h"
#include "tests/simulation/users/submitting.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A LostJobs follows jobs that were submitted after the copy was made from which the coordinator's records were brought
// back. A job that still lives is found, goes on, and is taken over. Any other is submitted anew.
class LostJobs {
 public:
  LostJobs(World& world, Coordinator& coordinator, Strangers& strangers, Submitting& submitting,
           RecoveredJobs& recovered_jobs)
      : world_(world),
        coordinator_(coordinator),
        strangers_(strangers),
        submitting_(submitting),
        recovered_jobs_(recovered_jobs) {}

  // Looks for a lost job again and again, as a user who misses it does.
  void LookFor(SimJob& job);

 private:
  void FollowLater(SimJob& job);
  void Follow(SimJob& job);
  // Follows a job that the coordinator has found.
  void FollowFound(SimJob& job, const v1::JobRecord& known);
  // Returns whether any process of the job lives.
  bool Lives(const SimJob& job) const;
  // Submits the job anew with another store, because nothing of it is known and nothing of it runs.
  void Forsake(SimJob& job);
  // Gives the job up. All its processes ended before an agent could say what they were, so nobody can take the job over
  // and its user does without it.
  void GiveUp(SimJob& job);

  World& world_;
  Coordinator& coordinator_;
  Strangers& strangers_;
  Submitting& submitting_;
  RecoveredJobs& recovered_jobs_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_USERS_LOST_JOBS_H_
