// Holds all that exists in a simulated cluster beside the coordinator. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_WORLD_SIM_WORLD_H_
#define REKINDLE_TESTS_SIMULATION_WORLD_SIM_WORLD_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/simulation/virtual_time.h"
#include "tests/simulation/schedules/schedule_options.h"
#include "tests/simulation/world/node.h"
#include "tests/simulation/world/observer.h"
#include "tests/simulation/world/pool.h"
#include "tests/simulation/world/sim_job.h"
#include "tests/simulation/world/sim_journal.h"
#include "tests/simulation/world/sim_process.h"

namespace rekindle::core::simulation {

// A World owns the virtual time, the chance, the journal, and the plain values of jobs, machines, pools and processes.
// It is open, because the classes of the other rooms are what moves it. Checks have only a constant World and the
// journal. Everything that happens is a function of the seed, so nobody else may have a source of chance.
struct World {
  World(uint64_t seed, const Options& options);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  double now() const { return queue.now(); }
  void After(double seconds, std::function<void()> run) { queue.At(queue.now() + seconds, std::move(run)); }
  // Runs `run` in a process after the delay. In a dead process it is not run. In a frozen one it is run when the
  // process wakes.
  void AtProcess(const std::string& id, double delay, std::function<void(Process&)> run);
  // Sends a message between a node and the coordinator with a delay. Sometimes it is lost or arrives twice.
  void Send(const std::string& node, std::function<void()> arrive);
  // Returns whether the two nodes can exchange data.
  bool Reachable(const std::string& a, const std::string& b) const;
  // Returns the time by the clock of the process's machine. Each machine's clock has a speed of its own and goes on
  // while a process is frozen.
  double ClockOf(const Process& process) const;

  std::vector<Process*> Running(const SimNode& node);
  std::vector<const Process*> Running(const SimNode& node) const;
  // Returns a random process that runs on the node, or null if none does.
  Process* AnyOf(const SimNode& node);
  // Returns a random node that is not gone for good, or null if all are gone.
  SimNode* AnyNode();
  SimJob& AnyJob();

  // Lets `tell` tell each observer what happens.
  void Tell(const std::function<void(Observer&)>& tell) const;

  const Options options;
  Chance chance;
  Queue queue;
  Journal journal{queue};
  // While `chaos` is set, chance may disturb whatever happens: messages are lost, machines are late, and so on.
  bool chaos = false;
  // The jobs have their uids as keys, nodes and pools their names, and processes the identities of their trainers.
  std::map<std::string, SimJob> jobs;
  std::map<std::string, SimNode> nodes;
  std::map<std::string, SimPool> pools;
  std::map<std::string, Process> processes;
  // `blocked` holds pairs of nodes that have no data connection.
  std::set<std::pair<std::string, std::string>> blocked;
  // The observers belong to whoever has added them, and outlive the schedule.
  std::vector<Observer*> observers;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_WORLD_SIM_WORLD_H_
