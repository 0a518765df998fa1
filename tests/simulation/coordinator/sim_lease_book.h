// Models what the coordinator's server knows of leases and of spending, following
// coordinator/server/{boards/lease_book,loop/loop}.cc. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_COORDINATOR_SIM_LEASE_BOOK_H_
#define REKINDLE_TESTS_SIMULATION_COORDINATOR_SIM_LEASE_BOOK_H_

#include <map>
#include <string>

#include "coordinator/core/state/events.h"
#include "tests/simulation/coordinator/sim_clock.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A LeaseBook knows of each job when a member of its generation was last answered, and until when the job may spend. It
// belongs to one process of the coordinator, so it is cleared with each start.
class LeaseBook {
 public:
  LeaseBook(World& world, const Clock& clock) : world_(world), clock_(clock) {}

  void Clear();
  // Makes the book agree with the record that the coordinator has saved.
  void Follow(const v1::JobRecord& record);
  // Notes that a trainer of the job is given the directive.
  void NoteAnswer(const std::string& uid, const v1::TrainerDirective& directive);
  // Notes that a member of the generation is answered. Returns false if the generation has no lease.
  bool Renew(const std::string& uid, int generation);
  // Returns the answer to the core's question. A lease that has ended is forgotten, so nobody can renew it.
  LeaseChecked Answer(const LeaseQuestion& question);
  // Returns for how many seconds the job may spend from now on. The result is infinite if there is no limit.
  double SpendSeconds(const std::string& uid) const;

 private:
  struct SimLease {
    int generation = 0;
    double answered = 0;
  };

  void FollowSpending(const v1::JobRecord& record);

  World& world_;
  const Clock& clock_;
  // Both maps have the job's uid as key. `spend_until_` has only jobs whose spending is limited.
  std::map<std::string, SimLease> leases_;
  std::map<std::string, double> spend_until_;
};

// Returns whether the directive lets a trainer be in a generation.
bool LetsRun(const v1::TrainerDirective& directive);

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_COORDINATOR_SIM_LEASE_BOOK_H_
