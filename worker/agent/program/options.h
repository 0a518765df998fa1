// Parses the flags of `rekindle-worker agent`.
#ifndef REKINDLE_WORKER_AGENT_PROGRAM_OPTIONS_H_
#define REKINDLE_WORKER_AGENT_PROGRAM_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "worker/agent/notices/notice_sources.h"
#include "worker/agent/program/gpus.h"

namespace rekindle::agent {

struct AgentOptions {
  std::string dir;
  std::string coordinator;
  // `node` is the host's name by default.
  std::string node;
  // Trainers compute on these GPUs. If there are none, they compute on the CPU.
  Gpus gpus;
  // `slots` is one per GPU by default.
  int slots = 1;
  // `trainer_binary` is rekindle-trainer beside this program by default.
  std::string trainer_binary;
  std::string advertise = "127.0.0.1";
  // `memory_bytes` is the memory for all trainers together. 0 means all that the machine or its control group has.
  uint64_t memory_bytes = 0;
  // `zone` is the failure domain, as the cloud names it. It is empty if unknown.
  std::string zone;
  // `pool` is a pool of the coordinator's fleet file. It is empty if unknown.
  std::string pool;
  // If `metrics` is empty, no metrics are served.
  std::string metrics;
  // `data_roots` are the folders that jobs may read here, within what the trainers' user may read. For a coordinator on
  // loopback the default is everything, because its callers have its token, which belongs to this user. Otherwise the
  // default is data::DataRoots::kUsual.
  std::vector<std::string> data_roots;
  NoticeOptions notices;
  double drain_seconds = 30;
  double stop_grace_seconds = 10;
  // The machine ends if it hears of no coordinator within this time after the start. 0 means without limit.
  double first_heard_seconds = 0;
};

// Parses `arguments`, which are those after "agent". `version` is what --version prints. If nothing has to run (help,
// version, wrong use), it says so on stdout or stderr, sets *exit_code to 0 or 2, and returns nothing.
std::optional<AgentOptions> ParseOptions(const std::vector<std::string>& arguments, const std::string& version,
                                         int* exit_code);

// Returns the path of this program.
std::string OwnProgram();

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_PROGRAM_OPTIONS_H_
