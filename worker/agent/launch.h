// How a trainer is started: arguments, environment, job file, log. The job secret is in the job file only (0600).
#ifndef REKINDLE_WORKER_AGENT_LAUNCH_H_
#define REKINDLE_WORKER_AGENT_LAUNCH_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/life_lock.h"
#include "common/process.h"
#include "rekindle/v1/node.pb.h"
#include "worker/agent/node_folder.h"
#include "worker/agent/trainer_record.h"

namespace rekindle::agent {

struct LaunchOptions {
  std::string trainer_binary;
  std::string coordinator;
  std::string node;
  std::string advertise;                // The trainer's data plane listens there.
  double memory_bytes = 0;              // Each trainer's share of the node's; 0: not known.
  int gpus = 0;                         // That slots use in turn.
  std::vector<std::string> data_roots;  // What its job may read.
};

// Why a desired trainer cannot be taken from the coordinator; OK when it can. `slots`: of this node.
absl::Status CheckDesired(const v1::DesiredTrainer& desired, int slots);

// What was wanted of the trainer of that slot, as its job file has it. NOT_FOUND; DATA_LOSS: it is none.
absl::StatusOr<v1::DesiredTrainer> ReadJobFile(const NodeFolder& folder, const std::string& job_uid, int slot);

// All of a trainer's environment: what pins its arithmetic, the threads of the spec, and of `own` ("NAME=value") only
// what locates things or is meant for trainers (REKINDLE_*, CUDA_*, ...), so that results do not depend on the shell.
// `gpu`: the one it may use, by the driver's number; below 0: none.
std::vector<std::string> TrainerEnvironment(const v1::JobSpec& spec, const std::vector<std::string>& own, int gpu);

struct Launched {
  TrainerRecord record;
  common::Process process;
  std::optional<common::LifeLock> life;  // None where it could not be made: the end is noticed later then.
};

// Writes the job file and the record, then lets the trainer run. On an error nothing runs.
absl::StatusOr<Launched> LaunchTrainer(const LaunchOptions& options, const NodeFolder& folder,
                                       const v1::DesiredTrainer& desired, double now);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_LAUNCH_H_
