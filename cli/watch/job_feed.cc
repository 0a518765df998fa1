#include "cli/watch/job_feed.h"

#include <chrono>
#include <utility>

#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::cli {
namespace {

bool IsOver(const v1::Job& job) {
  const v1::JobState state = job.status().state();
  return state == v1::SUCCEEDED || state == v1::FAILED || state == v1::CANCELLED;
}

// Returns whether the coordinator gave no answer, rather than a bad one.
bool IsSilence(const absl::Status& status) { return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status); }

}  // namespace

// A `Call` is one call of the feed to the coordinator. The end of the feed cancels the call, even if the call begins
// only after the end.
class JobFeed::Call {
 public:
  explicit Call(JobFeed* feed) : feed_(feed) {
    const common::MutexLock lock(feed_->mutex_);
    feed_->calls_.insert(&context_);
    if (feed_->stopped_) context_.TryCancel();
  }
  ~Call() {
    const common::MutexLock lock(feed_->mutex_);
    feed_->calls_.erase(&context_);
  }
  grpc::ClientContext* context() { return &context_; }

 private:
  JobFeed* const feed_;
  grpc::ClientContext context_;
};

JobFeed::JobFeed(v1::Coordinator::StubInterface* stub, std::string job,
                 std::function<absl::Status(const grpc::Status&)> check, std::function<void()> wake, const Times& times)
    : stub_(stub),
      check_(std::move(check)),
      wake_(std::move(wake)),
      times_(times),
      wanted_(std::move(job)),
      heard_at_(common::SteadySeconds()),
      heard_wall_(common::WallSeconds()),
      listener_([this] { Listen(); }),
      asker_([this] { AskWhenQuiet(); }) {}

JobFeed::~JobFeed() {
  {
    const common::MutexLock lock(mutex_);
    stopped_ = true;
    for (grpc::ClientContext* call : calls_) call->TryCancel();
  }
  changed_.NotifyAll();
  listener_.join();
  asker_.join();
}

JobFeed::News JobFeed::Next() {
  News news;
  {
    const common::MutexLock lock(mutex_);
    news.job = std::exchange(job_, std::nullopt);
    if (!news.job) news.end = end_;
    const bool silent = common::SteadySeconds() - heard_at_ > times_.away;
    if (known_ && silent && !end_) news.away_since = heard_wall_;
  }
  changed_.NotifyAll();
  return news;
}

void JobFeed::Listen() {
  while (!ListenOnce() && Pause(times_.retry)) {
  }
}

bool JobFeed::ListenOnce() {
  Call call(this);
  v1::WatchJobRequest request;
  request.set_job(Wanted());
  const auto stream = stub_->WatchJob(call.context(), request);
  v1::Job job;
  while (stream->Read(&job)) {
    Heard();
    const bool over = IsOver(job);
    if (!IsNew(job)) continue;
    if (!Hand(std::move(job))) break;
    if (over) End(absl::OkStatus());
  }
  const grpc::Status finished = stream->Finish();
  const absl::Status status = check_(finished);
  // A coordinator that shuts down ends its streams with OK, so OK does not mean that the job has ended.
  if (status.ok() || IsSilence(status)) {
    GiveUpAfter(0, status);
  } else {
    End(status);
  }
  const common::MutexLock lock(mutex_);
  return stopped_ || end_.has_value();
}

bool JobFeed::IsNew(const v1::Job& job) {
  std::string bytes = job.SerializeAsString();
  return std::exchange(newest_, bytes) != bytes;
}

void JobFeed::AskWhenQuiet() {
  while (Pause(times_.quiet)) {
    {
      const common::MutexLock lock(mutex_);
      if (common::SteadySeconds() - heard_at_ < times_.quiet) continue;
    }
    Call call(this);
    call.context()->set_deadline(std::chrono::system_clock::now() +
                                 std::chrono::milliseconds(static_cast<int>(times_.answer * 1000)));
    v1::GetJobRequest request;
    request.set_job(Wanted());
    v1::Job job;
    const absl::Status status = check_(stub_->GetJob(call.context(), request, &job));
    if (IsSilence(status)) {
      GiveUpAfter(times_.first, status);
    } else {
      Heard();
    }
  }
}

bool JobFeed::Hand(v1::Job job) {
  {
    common::MutexLock lock(mutex_);
    changed_.Wait(lock, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopped_ || !job_.has_value(); });
    if (stopped_) return false;
    wanted_ = job.uid();
    known_ = true;
    job_ = std::move(job);
  }
  wake_();
  return true;
}

void JobFeed::Heard() {
  const common::MutexLock lock(mutex_);
  heard_at_ = common::SteadySeconds();
  heard_wall_ = common::WallSeconds();
}

void JobFeed::GiveUpAfter(double seconds_before_first_word, const absl::Status& status) {
  {
    const common::MutexLock lock(mutex_);
    const double patience = known_ ? times_.patience : seconds_before_first_word;
    if (common::SteadySeconds() - heard_at_ < patience) return;
  }
  End(status.ok() ? absl::UnavailableError("the coordinator has ended its answer") : status);
}

void JobFeed::End(const absl::Status& status) {
  {
    const common::MutexLock lock(mutex_);
    if (end_) return;
    end_ = status;
    for (grpc::ClientContext* call : calls_) call->TryCancel();
  }
  changed_.NotifyAll();
  wake_();
}

std::string JobFeed::Wanted() {
  const common::MutexLock lock(mutex_);
  return wanted_;
}

bool JobFeed::Pause(double seconds) {
  common::MutexLock lock(mutex_);
  return !changed_.WaitFor(lock, std::chrono::duration<double>(seconds),
                           [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopped_ || end_.has_value(); });
}

}  // namespace rekindle::cli
