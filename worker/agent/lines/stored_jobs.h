// Reads what the checkpoint stores say of jobs that the coordinator has no record of
// (checkpoint/format/framed_job_file.h). The node's checkpoint service reads the stores for this class.
#ifndef REKINDLE_WORKER_AGENT_LINES_STORED_JOBS_H_
#define REKINDLE_WORKER_AGENT_LINES_STORED_JOBS_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "common/process/waker.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/checkpoint.grpc.pb.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::agent {

// StoredJobs is thread-safe. A slow checkpoint store delays nothing but the thread of this class.
class StoredJobs {
 public:
  // `waker` is woken when what a store says of a job has changed, and it must outlive this object.
  StoredJobs(std::shared_ptr<grpc::Channel> checkpoint_service, const common::Waker* waker);
  ~StoredJobs();

  // Sets which checkpoint stores to read from now on, keyed by job uid. They are read one after the other, and again
  // each minute.
  void Want(std::map<std::string, std::string> stores);
  // Fills in `stored_jobs` of the report with the wanted jobs that were read from their stores, and with those that
  // could not be read and the reason.
  void Report(v1::NodeReport* report) const;

 private:
  void Loop();
  v1::StoredJob Read(const std::string& uid, const std::string& store);

  const std::unique_ptr<v1::Checkpoints::Stub> stub_;
  const common::Waker* const waker_;
  mutable common::Mutex mutex_;
  common::CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // `call_` is the call to the checkpoint service that is in flight, so that it can be cancelled. It is null if there
  // is none.
  grpc::ClientContext* call_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::map<std::string, std::string> wanted_ ABSL_GUARDED_BY(mutex_);
  // `changes_` counts how often `wanted_`, the jobs to read, has changed. A job that was taken out of `wanted_` and is
  // wanted again has to be read again, which a comparison of the old and the new `wanted_` would not show.
  int64_t changes_ ABSL_GUARDED_BY(mutex_) = 0;
  // `known_` has what was read last from the jobs' stores, keyed by job uid.
  std::map<std::string, v1::StoredJob> known_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_LINES_STORED_JOBS_H_
