// What each trainer and agent is told: a pure function of the state, so that asking twice changes nothing.
#ifndef REKINDLE_COORDINATOR_CORE_DIRECTIVES_H_
#define REKINDLE_COORDINATOR_CORE_DIRECTIVES_H_

#include <string>

#include "coordinator/core/state.h"

namespace rekindle::core {

v1::TrainerDirective TrainerDirectiveFor(const State& state, const Job& job, const std::string& trainer);
v1::TrainerDirective UnknownJobDirective(const std::string& job_uid);
v1::NodeDirective NodeDirectiveFor(const State& state, const std::string& node);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_DIRECTIVES_H_
