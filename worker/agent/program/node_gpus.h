// Decides which GPUs the node has, and how many slots.
#ifndef REKINDLE_WORKER_AGENT_PROGRAM_NODE_GPUS_H_
#define REKINDLE_WORKER_AGENT_PROGRAM_NODE_GPUS_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/agent/folder/node_folder.h"
#include "worker/agent/program/options.h"
#include "worker/gpus/gpu.h"

namespace rekindle::agent {

// Asks the driver for the GPUs that trainers may use. A device for tests stands in for them if the options say so.
// Errors are those of gpus::FindGpus. The call blocks.
absl::StatusOr<std::vector<gpus::Gpu>> AskForGpus(const AgentOptions& options);

// Fills in the node's GPUs, and its number of slots if that was not given. The node's folder remembers the GPUs for as
// long as the machine runs, so that a slot keeps its GPU when the agent is restarted, and a GPU that is lost keeps its
// slot. If the driver does not work, the known GPUs are broken, and at least one is. Returns INVALID_ARGUMENT if more
// slots were given than the GPUs have room for, because their trainers would take each other's memory.
absl::Status SettleGpus(const NodeFolder& folder, AgentOptions& options);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_PROGRAM_NODE_GPUS_H_
