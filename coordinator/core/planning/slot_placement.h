// Decides which slot serves which job.
#ifndef REKINDLE_COORDINATOR_CORE_PLANNING_SLOT_PLACEMENT_H_
#define REKINDLE_COORDINATOR_CORE_PLANNING_SLOT_PLACEMENT_H_

#include <string>
#include <vector>

#include "coordinator/core/planning/plan_view.h"
#include "coordinator/core/state/core_state.h"
#include "coordinator/core/state/text.h"

namespace rekindle::core {

// Returns whether the slot is unfit for the job: a trainer there had other data or arithmetic than the job, and no
// member lives there.
bool IsUnfit(const Job& job, const SlotAt& at);

// Returns whether a member of the job lives in the slot, given as "<node>/<slot>".
bool LivesAt(const Job& job, const std::string& slot);
// Returns all slots in which members of the job live, in order. Their names point into the job's record.
std::vector<NodeSlot> LivingSlots(const Job& job);

// Returns whether the slot, given as "<node>/<slot>", has a trainer of the job that is no member and can become one.
bool CouldJoin(const Turn& turn, const Job& job, const std::string& slot);
// Returns whether the slot `at` has a trainer of the job that is a member or can become one.
bool HasArrived(const Turn& turn, const Job& job, const SlotAt& at);

// Takes slots from jobs that are over, gave them up or have left them, and from nodes that are lost. Returns the jobs
// that have lost a slot because its GPU failed, or because its node does not run their code any more: they have to be
// looked at again, as nothing else of them has changed.
std::vector<Job*> FreeSlots(State& state);

// Lets a gang keep its slots in the old pool until the whole gang has slots in the pool that the plan names, because
// the members in the old pool have the gang's state.
void KeepTheRest(const PlanView& view, const JobSlots& slots, scheduler::JobPlan& plan);

// Gives free slots to jobs as far as their plans go. A slot keeps its job as long as the slot and the job exist.
// Returns for each group how many slots of the plans no node provides yet.
std::vector<int> PlaceSlots(PlanView& view, const std::vector<scheduler::JobPlan>& plans);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_PLANNING_SLOT_PLACEMENT_H_
