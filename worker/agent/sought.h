// Which of the trainers that the coordinator hears nothing of do not run on this machine: those of another agent, which
// may be gone with them. Of a trainer that has exactly that pid and start time in this boot, and is there, nothing is
// said.
#ifndef REKINDLE_WORKER_AGENT_SOUGHT_H_
#define REKINDLE_WORKER_AGENT_SOUGHT_H_

#include <string>
#include <vector>

#include "common/machine.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::agent {

void ToProto(const common::Machine& machine, v1::Machine* message);

// Ids of those of `look_for` that ran on `here` and are gone. Of other machines it says nothing.
std::vector<std::string> AbsentAmong(const google::protobuf::RepeatedPtrField<v1::SoughtTrainer>& look_for,
                                     const common::Machine& here);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_SOUGHT_H_
