#include "coordinator/server/services/job_list.h"

#include <algorithm>

namespace rekindle::coordinator {

bool IsListed(const v1::Job& job, const v1::ListJobsRequest& request) {
  const v1::JobStatus& status = job.status();
  if (!request.team().empty() && status.resolved_spec().team() != request.team()) return false;
  if (status.submitted_at() < request.submitted_since()) return false;
  const auto& states = request.states();
  return states.empty() || std::find(states.begin(), states.end(), status.state()) != states.end();
}

v1::Job BriefOf(const v1::Job& job) {
  const v1::JobStatus& from = job.status();
  v1::Job brief;
  brief.set_name(job.name());
  brief.set_uid(job.uid());
  v1::JobStatus* to = brief.mutable_status();
  to->set_state(from.state());
  to->set_reason(from.reason());
  *to->mutable_resolved_spec() = from.resolved_spec();
  to->set_generation(from.generation());
  to->set_step(from.step());
  to->set_loss(from.loss());
  to->set_validation_loss(from.validation_loss());
  to->set_tokens_per_second(from.tokens_per_second());
  to->set_step_seconds(from.step_seconds());
  *to->mutable_members() = from.members();
  to->set_last_event(from.last_event());
  to->set_state_digest(from.state_digest());
  to->set_checkpoint_step(from.checkpoint_step());
  to->set_checkpoint_at(from.checkpoint_at());
  to->set_submitted_at(from.submitted_at());
  to->set_finished_at(from.finished_at());
  to->set_interruptions(from.interruptions());
  to->set_node_hours(from.node_hours());
  to->set_owner(from.owner());
  *to->mutable_cost() = from.cost();
  return brief;
}

}  // namespace rekindle::coordinator
