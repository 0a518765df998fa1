#include "tests/simulation/nodes/gpu_health.h"

#include <cmath>
#include <string>

namespace rekindle::core::simulation {
namespace {

constexpr char kLost[] = "GPU is lost";

}  // namespace

void GpuHealth::NoteEnd(SimNode& node, int slot, int code) {
  node.health.TrainerEnded(slot, code, kLost, world_.now());
  Use(node);
}

void GpuHealth::AskDriver(SimNode& node) {
  for (int slot = 0; slot < static_cast<int>(node.slots.size()); ++slot) {
    const bool was_out = node.health.IsOut(slot);
    const SimSlot& place = node.slots[slot];
    const bool broken = place.broken_until > world_.now() && place.driver_knows;
    const agent::SlotFault found = {.words = broken ? kLost : "", .driver_says_so = broken};
    node.health.DriverSaid(slot, found, world_.now());
    if (was_out && !node.health.IsOut(slot)) world_.journal.Count(Fault::kGpuMended);
  }
  Use(node);
}

void GpuHealth::Use(SimNode& node) {
  for (int slot = 0; slot < static_cast<int>(node.slots.size()); ++slot) {
    node.decides.slots[slot].out_of_use = node.health.IsOut(slot);
  }
  const double ask_at = node.health.ask_at();
  if (ask_at == node.ask_driver_at || std::isinf(ask_at)) return;
  node.ask_driver_at = ask_at;
  world_.queue.At(ask_at, [this, name = node.name, agent = node.agent_incarnation, ask_at] {
    SimNode& node = world_.nodes[name];
    if (!node.up || !node.agent || node.agent_incarnation != agent || node.ask_driver_at != ask_at) return;
    AskDriver(node);
    asked_(node);
  });
}

}  // namespace rekindle::core::simulation
