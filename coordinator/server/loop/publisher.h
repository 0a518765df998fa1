// Makes changes of jobs known once they are durable: to users who watch a job, to the log, to the metrics, and to
// LeaseBook and JobFileBook, which answer what members of the jobs ask.
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

// Publisher is thread-compatible: the loop's thread owns it.
class Publisher {
 public:
  // `on_alert` is called with each event that somebody should look at, and `on_forgotten` with the uid of each job that
  // is forgotten. The caller keeps the ownership of the other arguments, which must outlive this object.
  Publisher(const core::Cluster* cluster, const CoreClock* clock, PublishedState* state,
            std::function<void(const v1::Event&)> on_alert, std::function<void(const std::string&)> on_forgotten);

  // Makes known what is durable: the present state of the jobs in `changed`, that the jobs in `forgotten` are gone, and
  // the events. Both lists hold uids.
  void Publish(const std::set<std::string>& changed, const std::vector<std::string>& forgotten,
               const std::vector<v1::Event>& events);

 private:
  void Show(const v1::JobRecord& record, const std::vector<v1::Event>& events);
  void Forget(const std::string& uid);
  void Log(const v1::Event& event);
  // Tells the LeaseBook which generation of the job has not ended, if any, and until when the job may spend money.
  void SetLease(const v1::JobRecord& record);

  const core::Cluster* const cluster_;
  const CoreClock* const clock_;
  PublishedState* const state_;
  const std::function<void(const v1::Event&)> on_alert_;
  const std::function<void(const std::string&)> on_forgotten_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_LOOP_PUBLISHER_H_
