// Holds the newest job file that a trainer knows, for its job's store (checkpoint/format/framed_job_file.h). The file
// comes from the coordinator's answers to RenewLease.
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
  // Makes `request` ask for the job file if the coordinator has a newer one.
  void Ask(v1::RenewLeaseRequest* request) const;
  // Takes the job file from the answer to a request that asked for it. The caller must have checked that the
  // coordinator that answered is obeyed.
  void Take(const v1::RenewLeaseReply& reply);
  // Returns the job file of the newest answer. Before any answer its text is empty and `required` is set, so that no
  // checkpoint becomes durable without a job file. If the coordinator has no file for this job, the text is empty and
  // `required` is not set.
  checkpoint::JobFile Newest() const;
  // Returns the text of the newest job file if that file says that the job is over, and otherwise an empty text.
  std::string OfEnd() const;

 private:
  mutable common::Mutex mutex_;
  checkpoint::JobFile file_ ABSL_GUARDED_BY(mutex_) = {.text = "", .required = true};
  std::string digest_ ABSL_GUARDED_BY(mutex_);
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SESSIONS_KNOWN_JOB_FILE_H_
