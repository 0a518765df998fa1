// The flags of `rekindle-worker agent`.
#ifndef REKINDLE_WORKER_AGENT_OPTIONS_H_
#define REKINDLE_WORKER_AGENT_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "worker/agent/gpus.h"
#include "worker/agent/notices/registry.h"

namespace rekindle::agent {

struct AgentOptions {
  std::string dir;
  std::string coordinator;
  std::string node;            // Default: the host's name.
  Gpus gpus;                   // Those that its trainers compute on; none: on the CPU.
  int slots = 1;               // Default: one a GPU.
  std::string trainer_binary;  // Default: rekindle-trainer beside this program.
  std::string advertise = "127.0.0.1";
  uint64_t memory_bytes = 0;  // For its trainers together; 0: all that the machine, or its control group, has.
  std::string zone;           // Failure domain, as the cloud names it; empty: unknown.
  std::string pool;           // Of the coordinator's fleet file; empty: unknown.
  std::string metrics;        // Empty: none.
  // What jobs may read here, of what the trainers' user may read. Default: all of it for a coordinator on loopback,
  // whose callers have its token, which is this user's; else data::DataRoots::kUsual.
  std::vector<std::string> data_roots;
  NoticeOptions notices;
  double drain_seconds = 30;
  double stop_grace_seconds = 10;
  double first_heard_seconds = 0;  // From its start until a coordinator is heard of, or the machine ends; 0: for ever.
};

// `arguments`: those after "agent". `version`: what --version prints. When nothing is to be run (help, version, wrong
// use), says so on stdout or stderr and returns nothing, with *exit_code set to 0 or 2.
std::optional<AgentOptions> ParseOptions(const std::vector<std::string>& arguments, const std::string& version,
                                         int* exit_code);

// The path of this program.
std::string OwnProgram();

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_OPTIONS_H_
