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

// Gives the job its old secret back when an earlier trainer knows it, because the store does not keep the secret.
void TakeOldSecret(const Turn& turn, Job& job, const std::string& secret);

// Notes a trainer that reports neither the job's new secret nor its old one. The trainer is left alone, because it may
// be newer than the record in the store. REQUIRES: AwaitsOld(job) is true.
void NoteStranger(const Turn& turn, Job& job, const std::string& trainer);

// Shows in the job's status that its earlier trainers are awaited. REQUIRES: none of them is heard of now. Some may
// have been heard of, and have died.
void ShowAwaitedOld(const Turn& turn, Job& job);

// Returns why the user may give no command for the job but `cancel` or `resume --old-is-gone`. REQUIRES: AwaitsOld(job)
// is true.
std::string DescribeAwaitedOld(const Job& job);

// Takes the user's word that none of the job's earlier trainers runs. Returns FAILED_PRECONDITION, and changes nothing,
// where some are heard of.
absl::Status GiveOldUp(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_TAKEN_OVER_RECOVERED_H_
