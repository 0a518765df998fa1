// Which slot serves which job.
#ifndef REKINDLE_COORDINATOR_CORE_PLACEMENT_H_
#define REKINDLE_COORDINATOR_CORE_PLACEMENT_H_

#include <string>
#include <vector>

#include "coordinator/core/plan_view.h"
#include "coordinator/core/text.h"

namespace rekindle::core {

// The trainer there has other data or arithmetic than the job, and is no member.
bool IsUnfit(const Job& job, const SlotAt& at);

// Does a member of the job live on that "<node>/<slot>"?
bool LivesAt(const Job& job, const std::string& slot);
// All such, in order; names are of the job's record.
std::vector<NodeSlot> LivingSlots(const Job& job);

// Takes slots from jobs that are over, gave them up or have left them, and from nodes that are lost.
void FreeSlots(State& state);

// Who is left of a gang leaves only once all of it has come together in the other pool that the plan names: they keep
// its state.
void KeepTheRest(const PlanView& view, const JobSlots& slots, scheduler::JobPlan& plan);

// Gives free slots to jobs as far as their plans go; a slot keeps its job as long as both last. Returns how many more,
// by group, there is no node for.
std::vector<int> PlaceSlots(PlanView& view, const std::vector<scheduler::JobPlan>& plans);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLACEMENT_H_
