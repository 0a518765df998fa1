// Holds the newest job file that a trainer knows, for its job's store (checkpoint/format/framed_job_file.h). The file
// comes from the coordinator's answers to RenewLease.
//
// The class is thread-safe.
#ifndef REKINDLE_WORKER_TRAIN_SESSIONS_KNOWN_JOB_FILE_H_
#define REKINDLE_WORKER_TRAIN_SESSIONS_KNOWN_JOB_FILE_H_

#include <cstdint>
#include <string>

#include "checkpoint/format/framed_job_file.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::train {

class KnownJobFile {
 public:
  // Makes `request` ask for the job file if the coordinator has a newer one. Returns the number of the request, which
  // the caller has to send after this call.
  int64_t Ask(v1::RenewLeaseRequest* request);
  // Takes the job file from the answer to the request of this number. Several requests may be under way, and their
  // answers may come in any order: the answer to a request is ignored if that to a later one was taken before. The
  // caller must have checked that the coordinator that answered is obeyed.
  void Take(const v1::RenewLeaseReply& reply, int64_t number);
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
  // `asked_` is the number of the newest request, and `taken_` that of the newest request whose answer was taken.
  int64_t asked_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_SESSIONS_KNOWN_JOB_FILE_H_
