// Revives a job that was brought back from its checkpoint store, with nothing else left of its coordinator. Its earlier
// trainers may live and step. Until one of them is heard of, or its user says that none runs any more, nothing is
// decided for it.
#ifndef REKINDLE_COORDINATOR_CORE_TAKEN_OVER_RECOVERED_H_
#define REKINDLE_COORDINATOR_CORE_TAKEN_OVER_RECOVERED_H_

#include <string>

#include "coordinator/core/state/core_state.h"
#include "rekindle/v1/job_file.pb.h"

namespace rekindle::core {

struct Revival {
  // `secret` is a fresh one, as the store does not keep the job's.
  std::string secret;
  // `store_generation` is the highest generation that the store knows of.
  int store_generation = 0;
  // `old_is_gone` says that no earlier trainer runs any more.
  bool old_is_gone = false;
  // `runs` says that the job goes on at once. Otherwise it is PAUSED.
  bool runs = false;
  double unix_now = 0;
};

// Returns the record of a job as its store keeps it. A job that is not over has no membership in it. Living trainers
// are therefore ahead of the record, and are taken over. The time since the file was written is charged at the rate of
// then.
v1::JobRecord Revive(const v1::JobFile& file, const Revival& how);

// Gives the job its old secret back when an earlier trainer knows it, as the store does not keep it.
void TakeOldSecret(const Turn& turn, Job& job, const std::string& secret);

// Notes a trainer that reports another secret than the job's new and old ones. The trainer is left alone, as it may
// belong to a later time than the store's record. REQUIRES: AwaitsOld(job) is true.
void NoteStranger(const Turn& turn, Job& job, const std::string& trainer);

// Shows in the status that the earlier trainers are awaited. REQUIRES: none of them is heard of now. Some may have
// been, and have died.
void ShowAwaitedOld(const Turn& turn, Job& job);

// Returns why no verb but `cancel` or `resume --old-is-gone` may be given. REQUIRES: AwaitsOld(job) is true.
std::string DescribeAwaitedOld(const Job& job);

// Takes the user's word that none of the earlier trainers runs. Returns FAILED_PRECONDITION, and changes nothing, where
// some are heard of.
absl::Status GiveOldUp(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_TAKEN_OVER_RECOVERED_H_
