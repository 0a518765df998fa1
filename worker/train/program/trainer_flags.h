// Parses the flags of rekindle-trainer and loads the job that they name.
#ifndef REKINDLE_WORKER_TRAIN_PROGRAM_TRAINER_FLAGS_H_
#define REKINDLE_WORKER_TRAIN_PROGRAM_TRAINER_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/train/sessions/job_file.h"

namespace rekindle::train {

// The values of --device, with which the agent says what the trainer computes on.
inline constexpr char kCpuDevice[] = "cpu";
inline constexpr char kCudaDevice[] = "cuda";
// A trainer on a fake device computes on the processor. Only tests use it.
inline constexpr char kFakeDevice[] = "fake";

struct Flags {
  std::string job_file;
  std::string dir;
  std::string coordinator;
  std::string node;
  std::string trainer;
  std::string listen = "127.0.0.1";
  // `device` is kCpuDevice, kCudaDevice or kFakeDevice.
  std::string device = kCpuDevice;
  // `memory` is the memory of the host that the trainer may use, in bytes. 0 stands for all that the machine has.
  double memory = 0;
  // `device_memory` is the memory of the GPU that the trainer may use, in bytes. 0 stands for all of it.
  double device_memory = 0;
  // The job may read what is in `data_roots`. If there are none, it reads nothing.
  std::vector<std::string> data_roots;
  // `python` is the node's interpreter for users' own models. It may be empty.
  std::string python;
  // What the agent says of the job's code (worker/user_code/code_setting.h): `isolation` is the name of an Isolation,
  // and `warm` is where the job's warm process listens. `code_folder` is empty without such code.
  std::string isolation = "none";
  uint32_t code_uid = 0;
  std::string code_folder;
  // `task_folder` is where the module of the job's own model lies. If it is empty, the job's file says that.
  std::string task_folder;
  std::string warm;
  int try_micro_batch = 0;
  std::string result;
};

// Parses the command line of `program`. If nothing has to run (help, version, wrong use), ParseFlags prints why,
// returns nothing, and sets `*exit_code` to 0 or 2.
std::optional<Flags> ParseFlags(const char* program, int argc, char** argv, int* exit_code);

// Loads the job like LoadJobFile. The job reads what is in the data roots, but never the node's own files.
absl::StatusOr<TrainerJob> LoadJob(const Flags& flags, int micro_batch = 0);

// Returns the command that starts rekindle-trainer again for the same job.
std::vector<std::string> OwnCommand(const Flags& flags);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_PROGRAM_TRAINER_FLAGS_H_
