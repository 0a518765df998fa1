// Finds which of the trainers that the coordinator looks for no longer run on this machine. They belonged to another
// agent, which may be gone as well. A trainer is not reported as gone if a process exists with exactly its pid and
// start time in this boot.
#ifndef REKINDLE_WORKER_AGENT_DECISIONS_SOUGHT_H_
#define REKINDLE_WORKER_AGENT_DECISIONS_SOUGHT_H_

#include <string>
#include <vector>

#include "common/process/machine_identity.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::agent {

void ToProto(const common::MachineIdentity& machine, v1::Machine* message);

// Returns the ids of the trainers in `look_for` that ran on the machine `here` and are gone. Trainers of other machines
// are left out.
std::vector<std::string> AbsentAmong(const google::protobuf::RepeatedPtrField<v1::SoughtTrainer>& look_for,
                                     const common::MachineIdentity& here);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_DECISIONS_SOUGHT_H_
