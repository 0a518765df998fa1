// Defines a found job: one whose trainers live although the coordinator has no record of it.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_FOUND_JOB_H_
#define REKINDLE_COORDINATOR_CORE_STATE_FOUND_JOB_H_

#include <map>
#include <set>
#include <string>

#include "coordinator/core/state/trainer.h"
#include "rekindle/v1/store.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::core {

// Describes a job whose trainers live although the coordinator has no record of it (found.h).
struct FoundJob {
  // `record` is the job's record, from which its status is shown to users. Its spec and its secret are empty until an
  // agent has reported them.
  v1::JobRecord record;
  // `trainers` holds the newest report of each trainer that runs.
  std::map<std::string, v1::TrainerReport> trainers;
  // `heard` holds when each trainer last spoke.
  std::map<std::string, double> heard;
  // `running` maps nodes to the job's trainers that their agents list.
  std::map<std::string, std::set<std::string>> running;
  // `stored` says why the job's checkpoint store does not settle whose job it is.
  std::string stored;
  // `told` says that an event has told users of the job.
  bool told = false;
  // `nothing_since` is since when nothing of the job has run (forgetting.h).
  double nothing_since = kNever;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_FOUND_JOB_H_
