// Models what an agent learns of its GPUs. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_NODES_GPU_HEALTH_H_
#define REKINDLE_TESTS_SIMULATION_NODES_GPU_HEALTH_H_

#include <functional>
#include <utility>

#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// A GpuHealth decides with the real worker/agent/decisions/slot_health.h which slots are out of use. It asks the driver
// when that says so.
class GpuHealth {
 public:
  // `asked` lets the agent of the node report and act after it has asked the driver.
  GpuHealth(World& world, std::function<void(SimNode&)> asked) : world_(world), asked_(std::move(asked)) {}

  // Notes that the trainer in the slot has ended.
  void NoteEnd(SimNode& node, int slot, int code);
  void AskDriver(SimNode& node);

 private:
  // Takes slots out of use, and back, and sees to it that the driver is asked again.
  void Use(SimNode& node);

  World& world_;
  const std::function<void(SimNode&)> asked_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_NODES_GPU_HEALTH_H_
