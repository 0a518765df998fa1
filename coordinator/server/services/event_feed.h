// Sends the events of one job, or all events, in their order.
#ifndef REKINDLE_COORDINATOR_SERVER_SERVICES_EVENT_FEED_H_
#define REKINDLE_COORDINATOR_SERVER_SERVICES_EVENT_FEED_H_

#include <cstdint>
#include <string>

#include "coordinator/server/loop/loop.h"
#include "coordinator/server/services/stream.h"
#include "rekindle/v1/coordinator.pb.h"

namespace rekindle::coordinator {

// EventFeed must be used on the loop's thread.
class EventFeed {
 public:
  // The caller keeps the ownership of the loop.
  EventFeed(Loop* loop, const v1::ListEventsRequest& request)
      : loop_(loop), job_(request.job()), after_(request.after_revision()), follow_(request.follow()) {}

  Stream<v1::Event>::Pulled operator()();

 private:
  Loop* const loop_;
  const std::string job_;
  int32_t after_;
  const bool follow_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_SERVICES_EVENT_FEED_H_
