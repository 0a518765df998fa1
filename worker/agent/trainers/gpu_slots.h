// Knows which GPU the trainers of each slot compute on, and what the driver says of it.
#ifndef REKINDLE_WORKER_AGENT_TRAINERS_GPU_SLOTS_H_
#define REKINDLE_WORKER_AGENT_TRAINERS_GPU_SLOTS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rekindle/v1/node.pb.h"
#include "worker/agent/decisions/slot_health.h"
#include "worker/gpus/gpu.h"

namespace rekindle::agent {

// Says what the trainers of a slot compute on.
struct SlotDevice {
  // `kind` is what the trainer's flag --device says: "cpu", "cuda" or "fake".
  std::string kind = "cpu";
  // `uuid` names the GPU. It is empty without one.
  std::string uuid;
  // `memory_bytes` is the trainer's share of the GPU's memory.
  double memory_bytes = 0;
};

// Returns the GPUs of a machine in an order that does not change: first those in `known`, then the others in `listed`,
// the driver's newest list. A known GPU that the driver does not list is broken. The driver lists a GPU without a UUID
// if it cannot reach it, and its words are then given to a known GPU that it does not list by its UUID.
std::vector<gpus::Gpu> MergeGpus(const std::vector<gpus::Gpu>& known, std::vector<gpus::Gpu> listed);

// GpuSlots is thread-compatible.
class GpuSlots {
 public:
  // Slot i computes on GPU number i modulo the number of GPUs, which `share` slots have in common. Without GPUs all
  // slots compute on the processor. `fake` says that a device for tests stands in for the GPUs.
  GpuSlots(std::vector<gpus::Gpu> gpus, int share, int slots, bool fake)
      : gpus_(std::move(gpus)), share_(share), slots_(slots), fake_(fake) {}

  SlotDevice DeviceOf(int slot) const;
  // Takes the driver's newest list of GPUs.
  void Take(const std::vector<gpus::Gpu>& listed);
  // Returns what is wrong with the GPU of each slot. The text of a slot with a healthy GPU is empty. Slots without a
  // GPU are left out.
  std::map<int, SlotFault> Problems() const;
  // Describes the device of the node's slots, if the node has GPUs. All slots are reported to have the same device, so
  // the weakest of the GPUs that work stands for all.
  void Report(v1::Device* device) const;

 private:
  std::vector<gpus::Gpu> gpus_;
  const int share_;
  const int slots_;
  const bool fake_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_TRAINERS_GPU_SLOTS_H_
