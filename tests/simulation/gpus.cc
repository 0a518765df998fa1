// Models GPUs that fail. The agent decides with the real worker/agent/decisions/slot_health.h which slots are out of
// use.
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/agreed/exit_codes.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kLongestBroken = 20;
constexpr char kLost[] = "GPU is lost";

}  // namespace

void SimCluster::FailGpu(SimNode& node) {
  const int slot = chance_.Pick(static_cast<int>(node.slots.size()));
  SimSlot& place = node.slots[slot];
  if (place.broken_until > queue_.now()) return;
  place.broken_until = queue_.now() + chance_.Uniform(0.5, kLongestBroken);
  // The driver may find nothing wrong with a GPU that no trainer can use.
  place.driver_knows = chance_.Happens(0.5);
  Note(absl::StrCat("the GPU of slot ", slot, " of ", node.name, " is broken until ", place.broken_until));
  tally_.Count(Fault::kGpuFailed);
  if (!place.process.empty()) StopTrainer(processes_[place.process], common::kExitDeviceGone, false);
}

void SimCluster::NoteEndOnGpu(SimNode& node, int slot, int code) {
  node.health.TrainerEnded(slot, code, kLost, queue_.now());
  UseHealth(node);
}

void SimCluster::AskDriver(SimNode& node) {
  for (int slot = 0; slot < static_cast<int>(node.slots.size()); ++slot) {
    const bool was_out = node.health.IsOut(slot);
    const SimSlot& place = node.slots[slot];
    const bool broken = place.broken_until > queue_.now() && place.driver_knows;
    node.health.DriverSaid(slot, broken ? kLost : "", queue_.now());
    if (was_out && !node.health.IsOut(slot)) tally_.Count(Fault::kGpuMended);
  }
  UseHealth(node);
}

// Takes slots out of use, and back, and sees to it that the driver is asked again.
void SimCluster::UseHealth(SimNode& node) {
  for (int slot = 0; slot < static_cast<int>(node.slots.size()); ++slot) {
    node.decides.slots[slot].out_of_use = node.health.IsOut(slot);
  }
  const double ask_at = node.health.ask_at();
  if (ask_at == node.ask_driver_at || std::isinf(ask_at)) return;
  node.ask_driver_at = ask_at;
  queue_.At(ask_at, [this, name = node.name, agent = node.agent_incarnation, ask_at] {
    SimNode& node = nodes_[name];
    if (!node.up || !node.agent || node.agent_incarnation != agent || node.ask_driver_at != ask_at) return;
    AskDriver(node);
    AgentReport(node);
    Act(node);
  });
}

void SimCluster::TellSlotFaults(const SimNode& node, v1::NodeReport* report) {
  bool driver_says_so = Running(node).empty() && node.health.faults().size() == node.slots.size();
  for (const auto& [slot, fault] : node.health.faults()) {
    v1::SlotFault* told = report->add_slot_faults();
    told->set_slot(slot);
    told->set_words(fault.words);
    driver_says_so = driver_says_so && fault.driver_says_so;
  }
  if (driver_says_so) report->set_hint("every slot is out of use");
}

}  // namespace rekindle::core::simulation
