// Decides which slot serves which job.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_SLOT_PLACEMENT_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_SLOT_PLACEMENT_H_

#include <string>
#include <vector>

#include "coordinator/core/planning/plan_view.h"
#include "coordinator/core/state/core_state.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {

// Returns whether the trainer there has other data or arithmetic than the job, and is no member.
bool IsUnfit(const Job& job, const SlotAt& at);

// Returns whether a member of the job lives on that "<node>/<slot>".
bool LivesAt(const Job& job, const std::string& slot);
// Returns all such slots, in order. Their names point into the job's record.
std::vector<NodeSlot> LivingSlots(const Job& job);

// Takes slots from jobs that are over, gave them up or have left them, and from nodes that are lost.
void FreeSlots(State& state);

// Lets the rest of a gang stay until all of it has come together in the other pool that the plan names, because the
// rest keeps the gang's state.
void KeepTheRest(const PlanView& view, const JobSlots& slots, scheduler::JobPlan& plan);

// Gives free slots to jobs as far as their plans go. A slot keeps its job as long as both last. Returns how many more
// slots the plans need, by group, for which there is no node.
std::vector<int> PlaceSlots(PlanView& view, const std::vector<scheduler::JobPlan>& plans);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_SLOT_PLACEMENT_H_
