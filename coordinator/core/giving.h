// Slots that a job gives up while it goes on with others: who works there leaves at a step boundary.
#ifndef REKINDLE_COORDINATOR_CORE_GIVING_H_
#define REKINDLE_COORDINATOR_CORE_GIVING_H_

#include <map>
#include <string>
#include <vector>

#include "coordinator/core/plan_view.h"

namespace rekindle::core {

// Chooses those that leave already, then those that may be taken anyway, then those that nobody works on, then the
// last.
std::vector<SlotAt> ToGive(const Job& job, const std::vector<SlotAt>& held,
                           const std::map<std::string, std::string>& before, int count);

// False: nobody lives there, so it is free at once.
bool GiveSlot(Job& job, const SlotAt& at, const std::string& why);

// The job keeps what it was to give up from this cycle on, until another cycle decides anew.
void PutOff(JobSlots& slots);

// Says which of those that were to be given up before stay, and names the nodes that are given up from now on.
void TellKept(Turn& turn, const JobSlots& slots);
std::vector<std::string> NewlyGiven(const JobSlots& slots);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_GIVING_H_
