// Defines a job that lives although there is no record of it.
#ifndef REKINDLE_COORDINATOR_CORE_STATE_FOUND_JOB_H_
#define REKINDLE_COORDINATOR_CORE_STATE_FOUND_JOB_H_

#include <map>
#include <set>
#include <string>

#include "coordinator/core/state/trainer.h"
#include "rekindle/v1/store.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::core {

// Describes a job that lives although there is no record of it (found.h).
struct FoundJob {
  // This is shown. It has the spec and the secret once an agent has told them.
  v1::JobRecord record;
  // Each trainer that runs has its newest report here.
  std::map<std::string, v1::TrainerReport> trainers;
  // The trainers last spoke at these times.
  std::map<std::string, double> heard;
  // Maps nodes to the trainers that their agents list.
  std::map<std::string, std::set<std::string>> running;
  // This says why the store does not settle whose job it is.
  std::string stored;
  // An event has told of the job.
  bool told = false;
  // Nothing of the job has run since this time (forgetting.h).
  double nothing_since = kNever;
};

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_STATE_FOUND_JOB_H_
