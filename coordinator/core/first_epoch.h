// training.first_epoch "cpu": a job begins on nodes without GPUs, and moves to those with them once it has read every
// sample. Pure.
#ifndef REKINDLE_COORDINATOR_CORE_FIRST_EPOCH_H_
#define REKINDLE_COORDINATOR_CORE_FIRST_EPOCH_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

inline constexpr char kCpu[] = "cpu", kGpu[] = "cuda";  // Kinds of device.

// Slots of one kind, as a planning cycle finds them.
struct KindSlots {
  int held = 0;  // By the job.
  int free = 0;
};

struct KindWanted {
  std::string device;       // New slots are of this kind; empty: of any.
  bool moved = false;       // What it holds of other kinds can go: enough of this one are ready.
  int beyond_its_most = 0;  // Slots that it may have more while it moves: those it works on until the others are ready.
};

KindWanted WantedKind(const State& state, const Job& job, const KindSlots& cpu, const KindSlots& gpu);

// It asks for one, and has not moved yet.
bool IsInFirstEpoch(const Job& job);

// Changes when that wish may, but for slots.
int PhaseOfFirstEpoch(const State& state, const Job& job);

// Tells, once, that the job has `moved`.
void TellMoved(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_FIRST_EPOCH_H_
