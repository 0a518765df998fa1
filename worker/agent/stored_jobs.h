// What the checkpoint stores of jobs say of them (checkpoint/job_file.h), read by the node's checkpoint service for a
// coordinator that has no record of those jobs.
#ifndef REKINDLE_WORKER_AGENT_STORED_JOBS_H_
#define REKINDLE_WORKER_AGENT_STORED_JOBS_H_

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "rekindle/v1/checkpoint.grpc.pb.h"
#include "rekindle/v1/node.pb.h"
#include "worker/agent/waker.h"

namespace rekindle::agent {

// Thread-safe. A slow store holds up nobody but its own thread.
class StoredJobs {
 public:
  // `waker` is woken when what is known has changed, and must outlive it.
  StoredJobs(std::shared_ptr<grpc::Channel> checkpoint_service, const Waker* waker);
  ~StoredJobs();

  // Which are to be read from now on: stores by uid. They are read one after the other, and again each minute.
  void Want(std::map<std::string, std::string> stores);
  // Fills in `stored_jobs`: those that are wanted and were read, or could not be, with the reason.
  void Report(v1::NodeReport* report) const;

 private:
  void Loop();
  v1::StoredJob Read(const std::string& uid, const std::string& store);

  const std::unique_ptr<v1::Checkpoints::Stub> stub_;
  const Waker* const waker_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  grpc::ClientContext* call_ = nullptr;  // In flight.
  std::map<std::string, std::string> wanted_;
  int64_t changes_ = 0;                         // Of wanted_: what was given up and is wanted again is not known.
  std::map<std::string, v1::StoredJob> known_;  // By uid.
  std::thread thread_;
};

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_STORED_JOBS_H_
