// Checks that more important jobs do not wait for less important ones. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_CHECKS_INVERSION_H_
#define REKINDLE_TESTS_SIMULATION_CHECKS_INVERSION_H_

#include <map>
#include <string>

#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Checks that less important jobs do not keep machines from a job that waits for its minimum. The minimum must fit on
// the machines of those jobs together with what is free. Someone has to call `Look` every `kLookSeconds`.
class InversionCheck {
 public:
  static constexpr double kLookSeconds = 0.5;

  InversionCheck(const World& world, Journal& journal, const Coordinator& coordinator)
      : world_(world), journal_(journal), coordinator_(coordinator) {}

  void Look();

 private:
  // Holds for how long a less important job has been running although the job's minimum could be filled.
  struct Wait {
    double seconds = 0;
    // `usable` names the machines and the run of the coordinator's process during which `seconds` has been counted. If
    // either of them changes, the count starts again.
    std::string usable;
  };

  // Adds to the time for which `job` waits although less important work runs. The count starts again whenever a usable
  // machine comes or goes, or the coordinator is restarted.
  void LookAt(const SimJob& job);
  // Returns a less important job, and the node on which its trainers keep `job` from its minimum. The result is empty
  // if no job does that or if `job` does not wait.
  std::string RunsInstead(const SimJob& job) const;
  bool IsUsable(const SimNode& node) const;

  const World& world_;
  Journal& journal_;
  const Coordinator& coordinator_;
  // The uids of jobs are the keys.
  std::map<std::string, Wait> waits_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_CHECKS_INVERSION_H_
