// A job that was brought back from its checkpoint store, with nothing else left of its coordinator. Its trainers of
// before may live and step: until one is heard of, or its user says that none runs any more, nothing is decided for it.
#ifndef REKINDLE_COORDINATOR_CORE_RECOVERED_H_
#define REKINDLE_COORDINATOR_CORE_RECOVERED_H_

#include <string>

#include "coordinator/core/state.h"
#include "rekindle/v1/job_file.pb.h"

namespace rekindle::core {

struct Revival {
  std::string secret;        // A fresh one, as its store does not keep it.
  int store_generation = 0;  // The highest that its store knows of.
  bool old_is_gone = false;  // No trainer of before runs any more.
  bool runs = false;         // It goes on at once; else it is PAUSED.
  double unix_now = 0;
};

// Does that reason of a job say no more than that it was brought back?
bool IsBroughtBack(const std::string& reason);

// The record of a job as its store keeps it. One that is not over knows no membership: living trainers are ahead of it,
// and taken over. Since the file was written it is charged at the rate that it had then.
v1::JobRecord Revive(const v1::JobFile& file, const Revival& how);

bool AwaitsOld(const Job& job);

// A trainer of before knows the job's secret, which the store does not keep: it is the job's again.
void TakeOldSecret(Job& job, const std::string& secret);

// A trainer of it is heard of whose secret is neither: it is left alone, as it may be of a later time than the store's
// record. REQUIRES: AwaitsOld.
void NoteStranger(Job& job, const std::string& trainer);

// Its status says that they are awaited. REQUIRES: none of them is heard of now; some may have been, and have died.
void ShowAwaitedOld(Job& job);

// Why no verb but `cancel` or `resume --old-is-gone` may be given. REQUIRES: AwaitsOld.
std::string DescribeAwaitedOld(const Job& job);

// None of them is awaited any more.
void ForgetOld(Job& job);

// The user says that none of them runs. FAILED_PRECONDITION, and nothing is changed: some are heard of.
absl::Status GiveOldUp(Turn& turn, Job& job);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_RECOVERED_H_
