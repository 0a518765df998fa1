// Defines a machine of a simulated cluster, and what its agent knows, as plain values. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_WORLD_NODE_H_
#define REKINDLE_TESTS_SIMULATION_WORLD_NODE_H_

#include <map>
#include <string>
#include <vector>

#include "rekindle/v1/node.pb.h"
#include "tests/simulation/world/settings.h"
#include "worker/agent/decisions/alone.h"
#include "worker/agent/decisions/slot_health.h"
#include "worker/agent/decisions/slot_plan.h"

namespace rekindle::core::simulation {

// The clock of a machine runs faster or slower than the coordinator's by at most a share of `kClocksDiffer`.
inline constexpr double kClocksDiffer = 0.009;

// The versions of NCCL that nodes have. A node without a GPU has version 0.
inline constexpr int kNcclVersion = 22809, kOtherNcclVersion = 23007;

// The agent asks the driver about a GPU sooner than a real one does, because schedules are short.
inline constexpr agent::SlotHealthPolicy kHealthPolicy = {
    .context_seconds = 600, .first_seconds = 2, .longest_seconds = 16};

struct Exit {
  std::string trainer;
  std::string job_uid;
  int slot = 0;
  int code = 0;
};

struct SimSlot {
  // `started` is the number of trainer processes that were started in the slot so far.
  int started = 0;
  // `process` is the trainer that runs in the slot. It is empty if none does.
  std::string process;
  // `last_ended` is the trainer that has ended in the slot last.
  std::string last_ended;
  // Until `broken_until` every trainer in the slot ends because of its GPU. `driver_knows` says that the driver finds
  // something wrong with it, too.
  double broken_until = 0;
  bool driver_knows = false;
};

struct SimNode {
  std::string name;
  // `pool` is the pool in which the machine was ordered. It is empty for a machine that nobody ordered.
  std::string pool;
  bool up = true;
  bool agent = true;
  // `gone` says that the machine never comes back.
  bool gone = false;
  int incarnation = 1;
  int agent_incarnation = 1;
  std::vector<SimSlot> slots = std::vector<SimSlot>(1);
  // `exits` holds the exits that the coordinator has not acknowledged.
  std::vector<Exit> exits;
  // The agent acts again at `wake_at`.
  double wake_at = 0;
  bool draining = false;
  // No store answers the node until `store_away_until`.
  double store_away_until = 0;
  // Until `unmounted_until` the node has an empty folder where the stores should be.
  double unmounted_until = 0;
  // `clock_rate` is the speed of the node's clock relative to the coordinator's.
  double clock_rate = 1;
  int nccl_version = 0;
  // `data` is the fingerprint of the data that the node's trainers read, and `probe` the digest of how they compute.
  std::string data = kData;
  std::string probe = kProbe;
  // Until `unheard_until` no message passes between the coordinator and the node's agent or trainers.
  double unheard_until = 0;
  v1::NodeDirective directive;
  // Maps each job's uid to what the agent was last asked to run for it.
  std::map<std::string, v1::DesiredTrainer> wanted;
  // `decides` is what the agent knows: its directive, its trainers and the deaths of earlier trainers.
  agent::Node decides;
  // `health` is what the agent knows of the slots' GPUs. The agent asks the driver about them at `ask_driver_at`.
  agent::SlotHealth health{kHealthPolicy};
  double ask_driver_at = 0;
  agent::Alone alone{0, 0};
  // The machine may not run any longer without a coordinator and ends at `ends_at`. 0 means that it still may run.
  double ends_at = 0;
  int request = 0;
  int last_reply = 0;
};

// Returns the uid of the job that the slot has to serve, as far as the node's agent knows, or an empty string.
inline std::string WantedOn(const SimNode& node, int slot) {
  for (const v1::DesiredTrainer& desired : node.directive.trainers()) {
    if (desired.slot() == slot) return desired.job_uid();
  }
  return "";
}

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_WORLD_NODE_H_
