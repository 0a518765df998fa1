// Copies the coordinator's records, and brings the copy back after the records have changed. This file is for tests
// only.
#ifndef REKINDLE_TESTS_SIMULATION_FAULTS_COPIES_H_
#define REKINDLE_TESTS_SIMULATION_FAULTS_COPIES_H_

#include <map>
#include <string>

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/nodes/sim_machines.h"
#include "tests/simulation/users/lost_jobs.h"
#include "tests/simulation/users/recovered_jobs.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A Copies owns the copy of the records.
class Copies {
 public:
  Copies(World& world, Coordinator& coordinator, Machines& machines, RecoveredJobs& recovered_jobs, LostJobs& lost_jobs)
      : world_(world),
        coordinator_(coordinator),
        machines_(machines),
        recovered_jobs_(recovered_jobs),
        lost_jobs_(lost_jobs) {}

  // Plans when the records are copied and brought back.
  void Plan();

 private:
  void BringBack();
  // Makes the coordinator's records from what the jobs' stores keep, which is each job's record as it was when the copy
  // was made. Returns false if a job has no checkpoint yet.
  bool ReviveFromStores();
  // Kills the nodes on which the job runs, so that nothing of it is left there.
  void KillNodesOf(const SimJob& job);

  World& world_;
  Coordinator& coordinator_;
  Machines& machines_;
  RecoveredJobs& recovered_jobs_;
  LostJobs& lost_jobs_;
  std::map<std::string, v1::JobRecord> copied_jobs_;
  std::map<std::string, v1::NodeRecord> copied_nodes_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_FAULTS_COPIES_H_
