// Implements the streamed calls of UserService.
#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "coordinator/server/services/stream.h"
#include "coordinator/server/services/user_service.h"

namespace rekindle::coordinator {
namespace {

// At least `kShortestInterval` passes between two states of a watched job. Seconds.
constexpr double kShortestInterval = 0.1;
constexpr int kEventsAtOnce = 200;

// Sends the newest state of one job, and no state twice.
class JobWatch {
 public:
  JobWatch(Loop* loop, std::string name) : loop_(loop), name_(std::move(name)) {}

  Stream<v1::Job>::Pulled operator()() {
    const JobBoard::JobPointer job = loop_->jobs().Find(uid_.empty() ? name_ : uid_);
    if (job == nullptr) return {{}, NoJob(name_), {}};
    // A later job of that name is a different job.
    uid_ = job->uid();
    const std::string topic = "job/" + uid_;
    const double now = loop_->now();
    if (loop_->bulletin().Version(topic) == seen_ || now < not_before_) {
      return {{}, true, {topic, seen_, not_before_, kForever}};
    }
    seen_ = loop_->bulletin().Version(topic);
    not_before_ = now + kShortestInterval;
    return {{*job}, !IsOver(*job), {}};
  }

 private:
  Loop* const loop_;
  const std::string name_;
  std::string uid_;
  uint64_t seen_ = 0;
  double not_before_ = 0;
};

class EventFeed {
 public:
  EventFeed(Loop* loop, const v1::ListEventsRequest& request)
      : loop_(loop), job_(request.job()), after_(request.after_revision()), follow_(request.follow()) {}

  Stream<v1::Event>::Pulled operator()() {
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

 private:
  Loop* const loop_;
  const std::string job_;
  int32_t after_;
  const bool follow_;
};

// A std::function copies what it holds, so the state of a pull is shared.
template <typename Feed, typename... Arguments>
auto Pulling(Arguments&&... arguments) {
  return [feed = std::make_shared<Feed>(std::forward<Arguments>(arguments)...)] { return (*feed)(); };
}

}  // namespace

grpc::ServerWriteReactor<v1::Job>* UserService::WatchJob(Context* context, const v1::WatchJobRequest* request) {
  Count("WatchJob");
  return Stream<v1::Job>::Start(context, loop_, Pulling<JobWatch>(loop_, request->job()));
}

grpc::ServerWriteReactor<v1::Event>* UserService::ListEvents(Context* context, const v1::ListEventsRequest* request) {
  Count("ListEvents");
  return Stream<v1::Event>::Start(context, loop_, Pulling<EventFeed>(loop_, *request));
}

grpc::ServerWriteReactor<v1::LogLines>* UserService::ReadLog(Context* context, const v1::ReadLogRequest* request) {
  Count("ReadLog");
  return options_.logs->Read(context, *request);
}

grpc::ServerWriteReactor<v1::BackupChunk>* UserService::Backup(Context* context, const v1::BackupRequest*) {
  Count("Backup");
  return options_.backups->Start(context);
}

}  // namespace rekindle::coordinator
