// Renews the lease of a trainer's generation, and asks for its job file, on a thread of its own. Report calls cannot do
// this, because a report call is cancelled by the next report and then has no answer.
#ifndef REKINDLE_WORKER_TRAIN_SESSIONS_LEASE_RENEWAL_H_
#define REKINDLE_WORKER_TRAIN_SESSIONS_LEASE_RENEWAL_H_

#include <cstdint>
#include <optional>
#include <thread>

#include "common/sync/mutex.h"
#include "rekindle/v1/trainer.grpc.pb.h"
#include "worker/train/control/directive_box.h"
#include "worker/train/control/lease.h"
#include "worker/train/sessions/known_job_file.h"
#include "worker/train/sessions/obeyed_cluster.h"
#include "worker/train/sessions/trainer_identity.h"

namespace rekindle::train {

// Returns whether the directive allows the ranks of the generation that it names to make steps.
bool Stands(const Directive& directive);

// LeaseRenewal is thread-safe.
class LeaseRenewal {
 public:
  // All arguments of the constructor must outlive the LeaseRenewal.
  LeaseRenewal(const TrainerIdentity& identity, v1::Trainers::Stub& stub, const DirectiveBox& directives,
               ObeyedCluster& cluster, Lease& lease);
  // Cancels the renewal under way and joins the thread. REQUIRES: `directives` is closed.
  ~LeaseRenewal();

  // Asks for the job's file and waits at most `seconds` for the answer.
  void AskForJobFile(double seconds);
  const KnownJobFile& job_file() const { return job_file_; }

 private:
  void Loop();
  // Waits for `seconds`. Returns false if a directive newer than `seen` ends the wait, or if the thread has to stop. If
  // `asks` is false, because the caller has nothing to ask for, any newer directive ends the wait. If `asks` is true,
  // only one that makes this trainer rank 0 ends it.
  bool Pause(int64_t seen, double seconds, bool asks, int asked_as);
  bool AskOnce(double seconds);
  bool KeepsJobFile(const Directive& directive) const;
  // Returns whether this trainer keeps the job file (as rank 0) in a generation in which it has not asked for the file
  // yet.
  bool IsFirst(int asked_as) const;
  bool IsStopping() const;
  v1::RenewLeaseRequest NextRequest(const Directive& directive) const;
  // Sends a request and waits at most `seconds` for the answer. The request also asks for the job file if
  // `wants_job_file` is set. Returns nothing if no obeyed coordinator has answered.
  std::optional<v1::RenewLeaseReply> Call(grpc::ClientContext& context, v1::RenewLeaseRequest request,
                                          bool wants_job_file, double seconds);

  const TrainerIdentity& identity_;
  v1::Trainers::Stub& stub_;
  const DirectiveBox& directives_;
  ObeyedCluster& cluster_;
  Lease& lease_;
  KnownJobFile job_file_;
  mutable common::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // `call_` is the renewal under way. It is null if there is none.
  grpc::ClientContext* call_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::thread thread_;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SESSIONS_LEASE_RENEWAL_H_
