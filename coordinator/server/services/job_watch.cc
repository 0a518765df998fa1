#include "coordinator/server/services/job_watch.h"

namespace rekindle::coordinator {
namespace {

// At least `kShortestInterval` seconds pass between two states that are sent of a watched job.
constexpr double kShortestInterval = 0.1;

}  // namespace

Stream<v1::Job>::Pulled JobWatch::operator()() {
  const JobBoard::JobPointer job = loop_->jobs().Find(uid_.empty() ? name_ : uid_);
  if (job == nullptr) return {{}, NoJob(name_), {}};
  // The watch keeps the job's uid, because a later job of the same name is a different job.
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

}  // namespace rekindle::coordinator
