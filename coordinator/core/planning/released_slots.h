// Releases slots that a job gives up while it goes on with others. Members that work there leave at a step boundary.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_RELEASED_SLOTS_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_RELEASED_SLOTS_H_

#include <map>
#include <string>
#include <vector>

#include "coordinator/core/planning/plan_view.h"
#include "coordinator/core/state/core_state.h"

namespace rekindle::core {

// Chooses which slots to give up: first those that leave already, then those that may be taken anyway, then those that
// nobody works on, then the last ones.
std::vector<SlotAt> ToGive(const Job& job, const std::vector<SlotAt>& held,
                           const std::map<std::string, std::string>& before, int count);

// Gives a slot up. Returns false where nobody lives there, so that it is free at once.
bool GiveSlot(Job& job, const SlotAt& at, const std::string& why);

// Lets the job keep what it was to give up from this cycle on, until another cycle decides anew.
void PutOff(JobSlots& slots);

// Emits which of the slots that were to be given up before stay. NewlyGiven names the nodes that are given up from now
// on.
void TellKept(Turn& turn, const JobSlots& slots);
std::vector<std::string> NewlyGiven(const JobSlots& slots);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_RELEASED_SLOTS_H_
