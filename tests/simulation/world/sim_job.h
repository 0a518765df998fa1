// Defines a job of a simulated cluster, and what its store has, as plain values. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_WORLD_SIM_JOB_H_
#define REKINDLE_TESTS_SIMULATION_WORLD_SIM_JOB_H_

#include <map>
#include <string>
#include <vector>

#include "rekindle/v1/job_file.pb.h"
#include "rekindle/v1/membership.pb.h"
#include "tests/simulation/schedules/schedule_options.h"
#include "tests/simulation/world/fabric.h"

namespace rekindle::core::simulation {

// Only a reader of the whole checkpoint notices a damaged shard. A damaged manifest is noticed at once.
enum class Damage { kNone, kShard, kManifest };

struct SavedCheckpoint {
  int generation = 0;
  int step = 0;
  Damage damage = Damage::kNone;
};

inline std::string ManifestOf(int generation, int step) {
  return std::to_string(generation) + "-" + std::to_string(step) + "-sim";
}

// Holds what exists of a job outside the coordinator's records. It is needed once those records are lost.
struct Lost {
  // `told` is the job file as the coordinator had it last.
  v1::JobFile told;
  // `stored` is the job file as the job's store has it. Without a uid the store has none.
  v1::JobFile stored;
  // `found` says that the coordinator of this epoch has said that the job lives.
  bool found = false;
  // At `adopt_at` the user stops waiting and asks the coordinator to take the job over.
  double adopt_at = 0;
};

// Holds a job and what is true of it, whether the coordinator knows that or not.
struct SimJob {
  JobOptions options;
  std::string uid;
  bool submitted = false;
  bool paused = false;
  // `budget` is the highest budget that the user has allowed.
  double budget = 0;
  // `stopped` says that the job is stopped by its budget and its user is about to allow more.
  bool stopped = false;
  // Maps each generation to its communicator.
  std::map<int, Fabric> fabrics;
  std::vector<SavedCheckpoint> store;
  // Nobody can write to the store until `store_full_until`.
  double store_full_until = 0;
  // `completed` counts the steps that every member of a generation has applied and that were not rolled back.
  int completed = 0;
  // Whatever the job's ranks exchange by NCCL hangs until `nccl_hangs_until`.
  double nccl_hangs_until = 0;
  Lost lost;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_WORLD_SIM_JOB_H_
