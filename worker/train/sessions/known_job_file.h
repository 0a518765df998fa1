// Holds what a trainer knows of the file that its job's store keeps (checkpoint/format/framed_job_file.h). It comes
// from the coordinator's answers to RenewLease.
//
// The class is thread-safe.
#ifndef REKINDLE_WORKER_TRAIN_SESSIONS_KNOWN_JOB_FILE_H_
#define REKINDLE_WORKER_TRAIN_SESSIONS_KNOWN_JOB_FILE_H_

#include <string>

#include "checkpoint/format/framed_job_file.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::train {

class KnownJobFile {
 public:
  // Makes the request ask for a newer job file.
  void Ask(v1::RenewLeaseRequest* request) const;
  // Takes the answer to such a request. The caller must have checked that its coordinator is obeyed.
  void Take(const v1::RenewLeaseReply& reply);
  // Returns the file of the newest answer. Before any answer it is empty and required. It is empty and not required if
  // the coordinator has none for this job.
  checkpoint::JobFile Newest() const;
  // Returns the newest file if it says that the job is over, and otherwise an empty text.
  std::string OfEnd() const;

 private:
  mutable common::Mutex mutex_;
  checkpoint::JobFile file_ ABSL_GUARDED_BY(mutex_) = {.text = "", .required = true};
  std::string digest_ ABSL_GUARDED_BY(mutex_);
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SESSIONS_KNOWN_JOB_FILE_H_
