// Implements `training.first_epoch: cpu`. A job begins on nodes without GPUs, and moves to nodes with GPUs once it has
// read every sample. All functions but `TellMoved` only read the state.
#ifndef REKINDLE_COORDINATOR_CORE_CHOICES_FIRST_EPOCH_H_
#define REKINDLE_COORDINATOR_CORE_CHOICES_FIRST_EPOCH_H_

#include <optional>

#include "common/spec/spec_words.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// `kFirstEpoch` is the name of the note which says that the first epoch of a job is over.
inline constexpr char kFirstEpoch[] = "first_epoch";

// Counts the slots with one kind of device, as a planning cycle finds them.
struct KindSlots {
  // `held` counts the slots that the job holds already.
  int held = 0;
  int free = 0;
};

struct KindWanted {
  // `device` is the kind of device that new slots must have. It is unset where every kind is fit.
  std::optional<common::DeviceKind> device;
  // `moved` says that the job can give up its slots of other kinds, because enough trainers on `device` are ready.
  bool moved = false;
  // `beyond_its_most` is how many slots beyond its maximum the job may have while it moves. They are the slots that it
  // works on until the new ones are ready.
  int beyond_its_most = 0;
};

// Returns which slots the job wants next, given the slots of both kinds that it holds or could get.
KindWanted WantedKind(const State& state, const Job& job, const KindSlots& cpu, const KindSlots& gpu);

// Returns whether the job asks for a first epoch on CPUs and has not moved to GPUs yet.
bool IsInFirstEpoch(const Job& job);

// Returns a number that changes when the answer of `WantedKind` may change for another reason than the slots.
int PhaseOfFirstEpoch(const State& state, const Job& job);

// Emits the event that the job has moved to GPUs. Later calls do nothing.
void TellMoved(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_CHOICES_FIRST_EPOCH_H_
