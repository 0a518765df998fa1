// Starts a trainer process with its arguments, environment, job file and log. The job secret is in the job file only
// (mode 0600).
#ifndef REKINDLE_WORKER_AGENT_TRAINERS_TRAINER_LAUNCH_H_
#define REKINDLE_WORKER_AGENT_TRAINERS_TRAINER_LAUNCH_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/process/life_lock.h"
#include "common/process/process.h"
#include "rekindle/v1/node.pb.h"
#include "worker/agent/folder/node_folder.h"
#include "worker/agent/folder/trainer_record.h"
#include "worker/agent/trainers/gpu_slots.h"

namespace rekindle::agent {

struct LaunchOptions {
  std::string trainer_binary;
  // `own_trainer_binary` is the program for users' own models, and `python` the interpreter that runs these. Without
  // `python` the job has to name one.
  std::string own_trainer_binary;
  std::string python;
  // `allow_code` says whether jobs may bring code of their own (common/agreed/allow_code.h). An empty one means no.
  std::string allow_code;
  std::string coordinator;
  std::string node;
  // The trainer's data plane listens at the address `advertise`.
  std::string advertise;
  // `memory_bytes` is each trainer's share of the node's memory. 0 means that the share is not known.
  double memory_bytes = 0;
  // The trainer's job may read the folders in `data_roots`.
  std::vector<std::string> data_roots;
};

// Returns OK, or why the agent refuses a trainer that the coordinator wants on this node. `slots` is the node's number
// of slots. `allow_code` is LaunchOptions::allow_code.
absl::Status CheckDesired(const v1::DesiredTrainer& desired, int slots, const std::string& allow_code);

// Returns what was wanted of the trainer in `slot`, as its job file has it. Returns NOT_FOUND if there is no job file,
// and DATA_LOSS if the file is not a job file of the job `job_uid`.
absl::StatusOr<v1::DesiredTrainer> ReadJobFile(const NodeFolder& folder, const std::string& job_uid, int slot);

// Returns the whole environment of a trainer. It has the variables that pin the trainer's arithmetic, and the number of
// threads that the spec asks for. From `own` ("NAME=value") it takes only variables that locate things or are meant for
// trainers (REKINDLE_*, CUDA_*, ...), so that results do not depend on the shell. `gpu` is the UUID of the GPU that the
// trainer may use. If it is empty, the trainer may use no GPU.
std::vector<std::string> TrainerEnvironment(const v1::JobSpec& spec, const std::vector<std::string>& own,
                                            const std::string& gpu);

struct Launched {
  TrainerRecord record;
  common::Process process;
  // `life` is unset if the life lock could not be made. The end of the trainer is then noticed later.
  std::optional<common::LifeLock> life;
};

// Writes the job file and the trainer's record, then lets the trainer run. `device` says what the trainer
// computes on. `code` has the arguments for a job's own code (user_code/job_code.h). After an error no trainer runs.
// Returns FAILED_PRECONDITION if this node has no program for the job's trainers.
absl::StatusOr<Launched> LaunchTrainer(const LaunchOptions& options, const NodeFolder& folder,
                                       const v1::DesiredTrainer& desired, const SlotDevice& device,
                                       const std::vector<std::string>& code, double now);

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_TRAINERS_TRAINER_LAUNCH_H_
