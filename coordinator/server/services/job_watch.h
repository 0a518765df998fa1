// Sends the newest state of one job to a caller that watches it, and no state twice.
#ifndef REKINDLE_COORDINATOR_SERVER_SERVICES_JOB_WATCH_H_
#define REKINDLE_COORDINATOR_SERVER_SERVICES_JOB_WATCH_H_

#include <cstdint>
#include <string>

#include "coordinator/server/loop/loop.h"
#include "coordinator/server/services/stream.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::coordinator {

// JobWatch must be used on the loop's thread.
class JobWatch {
 public:
  // `name` is the job's name or uid. The caller keeps the ownership of the loop.
  JobWatch(Loop* loop, std::string name) : loop_(loop), name_(std::move(name)) {}

  Stream<v1::Job>::Pulled operator()();

 private:
  Loop* const loop_;
  const std::string name_;
  std::string uid_;
  uint64_t seen_ = 0;
  double not_before_ = 0;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_SERVICES_JOB_WATCH_H_
