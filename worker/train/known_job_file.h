// What a trainer knows of the file that its job's store is to keep (checkpoint/job_file.h), as the coordinator told it
// with its answers to RenewLease.
//
// Thread-safe.
#ifndef REKINDLE_WORKER_TRAIN_KNOWN_JOB_FILE_H_
#define REKINDLE_WORKER_TRAIN_KNOWN_JOB_FILE_H_

#include <mutex>
#include <string>

#include "checkpoint/job_file.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::train {

class KnownJobFile {
 public:
  // Makes the request ask for a newer one.
  void Ask(v1::RenewLeaseRequest* request) const;
  // The answer to such a request, of the coordinator that is obeyed.
  void Take(const v1::RenewLeaseReply& reply);
  // What it told last. Nothing, and required, until it has; nothing, and not required, where it has none for this job.
  checkpoint::JobFile Newest() const;
  // The newest, if that says that the job is over; else empty.
  std::string OfEnd() const;

 private:
  mutable std::mutex mutex_;
  checkpoint::JobFile file_{.text = "", .required = true};
  std::string digest_;
  bool over_ = false;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_KNOWN_JOB_FILE_H_
