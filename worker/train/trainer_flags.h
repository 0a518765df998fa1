// The flags of rekindle-trainer, and the job that they name.
#ifndef REKINDLE_WORKER_TRAIN_TRAINER_FLAGS_H_
#define REKINDLE_WORKER_TRAIN_TRAINER_FLAGS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/train/job_file.h"

namespace rekindle::train {

struct Flags {
  std::string job_file;
  std::string dir;
  std::string coordinator;
  std::string node;
  std::string trainer;
  std::string listen = "127.0.0.1";
  double memory = 0;
  std::vector<std::string> data_roots;  // What the job may read; none: nothing.
  int try_micro_batch = 0;
  std::string result;
};

// When nothing is to be run (help, version, wrong use), says so and returns nothing, with *exit_code set to 0 or 2.
std::optional<Flags> ParseFlags(int argc, char** argv, int* exit_code);

// Loads as LoadJobFile does. The job reads what is in the data roots, and never this node's own.
absl::StatusOr<TrainerJob> LoadJob(const Flags& flags, int micro_batch = 0);

// This program again, for the same job.
std::vector<std::string> OwnCommand(const Flags& flags);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_TRAINER_FLAGS_H_
