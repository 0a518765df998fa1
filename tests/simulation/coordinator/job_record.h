// Says what a job's record means. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_COORDINATOR_JOB_RECORD_H_
#define REKINDLE_TESTS_SIMULATION_COORDINATOR_JOB_RECORD_H_

#include "rekindle/v1/store.pb.h"
#include "tests/simulation/world/sim_job.h"

namespace rekindle::core::simulation {

// Returns whether the record says that the job is over.
inline bool IsOver(const v1::JobRecord& record) {
  const v1::JobState state = record.job().status().state();
  return state == v1::SUCCEEDED || state == v1::FAILED || state == v1::CANCELLED;
}

// Returns whether the record `now` has a newer membership than `before`, which ranks already had from a coordinator
// whose records are gone.
inline bool TakesOver(const SimJob& job, const v1::JobRecord& before, const v1::JobRecord& now) {
  const v1::Membership& membership = now.membership();
  if (membership.generation() <= before.membership().generation()) return false;
  const auto known = job.fabrics.find(membership.generation());
  return known != job.fabrics.end() && known->second.membership.digest() == membership.digest();
}

// Returns whether the coordinator has formed a generation since `before`.
inline bool FormsGeneration(const SimJob& job, const v1::JobRecord& before, const v1::JobRecord& now) {
  return now.membership().generation() != before.membership().generation() && !TakesOver(job, before, now);
}

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_COORDINATOR_JOB_RECORD_H_
