// Makes the record of a job from the file in its checkpoint store, with nothing else left of its coordinator.
#ifndef REKINDLE_COORDINATOR_CORE_TAKEN_OVER_REVIVAL_H_
#define REKINDLE_COORDINATOR_CORE_TAKEN_OVER_REVIVAL_H_

#include <string>

#include "rekindle/v1/job_file.pb.h"
#include "rekindle/v1/store.pb.h"

namespace rekindle::core {

struct Revival {
  // `secret` is a new one, because the store does not keep the job's old secret.
  std::string secret;
  // `store_generation` is the highest generation that the store knows of.
  int store_generation = 0;
  // `old_is_gone` says that no earlier trainer runs any more.
  bool old_is_gone = false;
  // `runs` says that the job goes on at once. Otherwise it is PAUSED.
  bool runs = false;
  double unix_now = 0;
};

// Returns a job's record from the file in its store. The record of a job that is not over has no membership, so living
// trainers are ahead of it, and are taken over. The time since the file was written is charged at the rate of that
// time.
v1::JobRecord Revive(const v1::JobFile& file, const Revival& how);

// Passes over generations that left no trace in the store, because they neither began from a checkpoint nor saved one.
// If such a generation steps after all, the next one has a higher number, so that the store takes nothing from the old
// one any more.
void PassUnseen(v1::JobRecord* record);

// Returns why nothing of the job runs, and what lets the job go on. `why` is the first part of that text.
std::string DescribeBroughtBack(const std::string& why, const std::string& name, bool old_is_gone);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_TAKEN_OVER_REVIVAL_H_
