// Defines a trainer process of a simulated cluster as a plain value. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_WORLD_SIM_PROCESS_H_
#define REKINDLE_TESTS_SIMULATION_WORLD_SIM_PROCESS_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "rekindle/v1/trainer.pb.h"
#include "tests/simulation/world/fabric.h"
#include "tests/simulation/world/reporting.h"
#include "tests/simulation/world/sim_job.h"
#include "worker/train/control/lease.h"

namespace rekindle::core::simulation {

// Says how a generation ends at a step boundary.
enum class Ending { kNone, kYield, kSave };

inline Ending EndingIn(const v1::TrainerDirective& directive) {
  if (directive.action() != v1::TrainerDirective::YIELD) return Ending::kNone;
  return directive.checkpoint() ? Ending::kSave : Ending::kYield;
}

// Models one trainer process.
struct Process {
  SimJob* job = nullptr;
  std::string id;
  std::string node;
  int slot = 0;
  bool alive = true;
  double started_at = 0;
  // `ended_at` is when the process ended, and infinite while it is alive.
  double ended_at = std::numeric_limits<double>::infinity();
  double frozen_until = 0;
  // `reporting` runs the real Reporter for the process. It is null before the process has been started.
  std::unique_ptr<Reporting> reporting;
  // `report` is what is true of the process, published or not. Only `Voice::Say` changes it.
  v1::TrainerReport report;
  // `sequence` is the number of the newest message that the process has sent.
  int64_t sequence = 0;
  // The abort of NCCL hangs in the process until `aborts_until`. 0 means that none has hung.
  double aborts_until = 0;
  // `applies` says that the process is writing the state. Whatever ends its generation waits until that is done.
  bool applies = false;
  int known_revision = 0;
  // `last_reply` is the sequence number of the newest request that was answered.
  int last_reply = 0;
  std::unique_ptr<train::Lease> lease;
  // `said` is the time by its machine's clock at which the process told the other ranks whether its lease holds.
  double said = 0;
  v1::TrainerDirective directive;
  Ending ending_seen = Ending::kNone;
  // `has_started` says that the process has begun to report.
  bool has_started = false;
  // `is_known` says that the coordinator has heard from the agent that the process runs.
  bool is_known = false;
  // `sought` is the checkpoint that the directive named when the process last followed it.
  std::string sought;
  bool sought_verified = false;
  double search_at = 0;
  double look_at = 0;
  double search_pause = 0;
};

inline bool In(const Process& process, int generation) {
  const v1::TrainerPhase phase = process.report.phase();
  return process.alive && process.report.generation() == generation &&
         (phase == v1::TRAINER_RUNNING || phase == v1::TRAINER_STANDING);
}

// Returns the communicator of the generation that the process is in.
inline Fabric& FabricOf(const Process& process) { return process.job->fabrics[process.report.generation()]; }

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_WORLD_SIM_PROCESS_H_
