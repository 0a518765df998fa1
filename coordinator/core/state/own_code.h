// Decides which nodes can run a job with the user's own model, from what the nodes report of their Python and of their
// trust in the code of users.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_OWN_CODE_H_
#define REKINDLE_COORDINATOR_CORE_STATE_OWN_CODE_H_

#include "common/agreed/allow_code.h"
#include "coordinator/scheduler/demand.h"
#include "rekindle/v1/job_spec.pb.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::core {

// Returns whether a job with that spec trains the user's own model.
inline bool TrainsOwnModel(const v1::JobSpec& spec) { return !spec.model().python().empty(); }

// Returns what a job with that spec needs of a node.
inline scheduler::OwnCode OwnCodeOf(const v1::JobSpec& spec) {
  if (!TrainsOwnModel(spec)) return scheduler::OwnCode::kNone;
  return spec.model().interpreter().empty() ? scheduler::OwnCode::kAny : scheduler::OwnCode::kWithInterpreter;
}

// Returns which jobs the node can run, as its report says. `takes_code` is Tunables::takes_code.
inline scheduler::OwnCode OwnCodeOn(const v1::NodeReport& report, bool takes_code = true) {
  if (!takes_code || !common::AllowsCode(report.allow_code())) return scheduler::OwnCode::kNone;
  const bool has_python = report.has_interpreter() && report.interpreter().problem().empty();
  return has_python ? scheduler::OwnCode::kAny : scheduler::OwnCode::kWithInterpreter;
}

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_OWN_CODE_H_
