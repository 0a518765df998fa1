// Plays a schedule on a simulated cluster in virtual time. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_SIM_CLUSTER_H_
#define REKINDLE_TESTS_SIMULATION_SIM_CLUSTER_H_

#include <cstdint>
#include <deque>
#include <string>

#include "tests/simulation/checks/checks.h"
#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/exchange/sim_exchange.h"
#include "tests/simulation/faults/fault_plan.h"
#include "tests/simulation/nodes/nodes.h"
#include "tests/simulation/schedules/schedule_options.h"
#include "tests/simulation/trainers/trainers.h"
#include "tests/simulation/users/sim_users.h"
#include "tests/simulation/world/sim_world.h"
#include "tests/simulation/world/tally.h"

namespace rekindle::core::simulation {

// A SimCluster owns a whole simulated cluster and what happens to it. The coordinator is the real core. Trainers,
// agents, connections and the network between them are models that follow worker/train/engine/engine.cc and the
// contracts in proto/. Everything that happens is a function of the seed.
class SimCluster {
 public:
  SimCluster(uint64_t seed, const Options& options) : world_(seed, options) {}

  // Plays the whole schedule. Returns an empty string, or what went wrong.
  std::string Play();
  // Returns the journal of the last things that happened, oldest first.
  const std::deque<std::string>& journal() const { return world_.journal.lines(); }
  int turns_of_coordinator() const { return coordinator_.turns(); }
  const Tally& tally() const { return world_.journal.tally(); }

 private:
  void Start();
  void InversionLoop();
  bool AllAreOver() const;
  // Returns which jobs have not succeeded and why, one in a line.
  std::string FindUnfinished() const;
  // Returns by when the jobs have to finish. A job may have to wait for the end of its spending grant, because a budget
  // has no room for other nodes before that.
  double FinishBy() const;
  // Compares the coordinator's answers with those of one that looks at everything, and returns true, if nothing is
  // under way in the coordinator.
  bool CompareIfSettled();

  World world_;
  // A room below calls one above only here.
  Coordinator coordinator_{world_, [this](const PoolOrder& order) { nodes_.pools.Take(order); }};
  Trainers trainers_{world_, coordinator_, [this](Process& process, const Answer& answer, double sent) {
                       exchange_.obeying.Hear(process, answer, sent);
                     }};
  Exchange exchange_{world_, trainers_,
                     [this](Process& process, int code) { nodes_.supervisor.Stop(process, code, /*silent=*/false); }};
  Nodes nodes_{world_, coordinator_, trainers_, exchange_};
  Users users_{world_, coordinator_, nodes_};
  Checks checks_{world_, coordinator_};
  FaultPlan faults_{world_, coordinator_, nodes_, users_};
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_SIM_CLUSTER_H_
