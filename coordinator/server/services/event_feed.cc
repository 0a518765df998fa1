#include "coordinator/server/services/event_feed.h"

#include <utility>
#include <vector>

namespace rekindle::coordinator {
namespace {

constexpr int kEventsAtOnce = 200;

}  // namespace

Stream<v1::Event>::Pulled EventFeed::operator()() {
  std::string name;
  if (!job_.empty()) {
    const JobBoard::JobPointer job = loop_->jobs().Find(job_);
    if (job == nullptr) return {{}, NoJob(job_), {}};
    name = job->name();
  }
  const uint64_t seen = loop_->bulletin().Version("events");
  absl::StatusOr<std::vector<v1::Event>> events = loop_->store().Events(after_, name, kEventsAtOnce);
  if (!events.ok()) return {{}, events.status(), {}};
  if (!events->empty()) after_ = events->back().revision();
  const bool more = follow_ || events->size() == kEventsAtOnce;
  return {*std::move(events), more, {"events", seen, 0, kForever}};
}

}  // namespace rekindle::coordinator
