// Releases slots that a job gives up while it goes on with others. Members that work there leave at a step boundary.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_RELEASED_SLOTS_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_RELEASED_SLOTS_H_

#include <map>
#include <string>
#include <vector>

#include "coordinator/core/planning/plan_view.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Chooses `count` of the held slots for the job to give up: first those that it was giving up before, then those on
// nodes that may be taken anyway, then those in which no member works, then the last ones in `held`.
std::vector<SlotAt> ToGive(const Job& job, const std::vector<SlotAt>& held,
                           const std::map<std::string, std::string>& before, int count);

// Gives a slot up. Returns false where no member lives in the slot, so that it is free at once.
bool GiveSlot(Job& job, const SlotAt& at, const std::string& why);

// Lets the job keep the slots that this cycle has newly decided to take from it, until another cycle decides anew.
void PutOff(JobSlots& slots);

// TellKept emits an event that names the nodes that the job was giving up before the cycle and now keeps. NewlyGiven
// returns the nodes that the job gives up from now on.
void TellKept(Turn& turn, const JobSlots& slots);
std::vector<std::string> NewlyGiven(const JobSlots& slots);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_RELEASED_SLOTS_H_
