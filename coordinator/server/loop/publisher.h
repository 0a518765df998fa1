// Makes changes of jobs known once they are durable: to users who watch, to the log, to metrics, and to those who ask
// for leases and files.
#ifndef REKINDLE_COORDINATOR_SERVER_LOOP_PUBLISHER_H_
#define REKINDLE_COORDINATOR_SERVER_LOOP_PUBLISHER_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/core/cluster.h"
#include "coordinator/server/loop/core_clock.h"
#include "coordinator/server/loop/published_state.h"

namespace rekindle::coordinator {

// The class is thread-compatible: the loop's thread owns it.
class Publisher {
 public:
  // `on_alert` is called with each event that somebody should look at, and `on_forgotten` with the uid of each job that
  // is forgotten. The caller keeps the ownership of the other three, which must outlive this object.
  Publisher(const core::Cluster* cluster, const CoreClock* clock, PublishedState* state,
            std::function<void(const v1::Event&)> on_alert, std::function<void(const std::string&)> on_forgotten);

  // Makes known what is durable: the jobs of the uids in `changed`, that those in `forgotten` are gone, and the events.
  void Publish(const std::set<std::string>& changed, const std::vector<std::string>& forgotten,
               const std::vector<v1::Event>& events);

 private:
  void Show(const v1::JobRecord& record, const std::vector<v1::Event>& events);
  void Forget(const std::string& uid);
  void Log(const v1::Event& event);
  // Tells the lease book what members may be told of the job's newest generation.
  void SetLease(const v1::JobRecord& record);

  const core::Cluster* const cluster_;
  const CoreClock* const clock_;
  PublishedState* const state_;
  const std::function<void(const v1::Event&)> on_alert_;
  const std::function<void(const std::string&)> on_forgotten_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOOP_PUBLISHER_H_
