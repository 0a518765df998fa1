#include "worker/agent/logs/log_shipper.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "common/log/log.h"
#include "common/time/clock.h"

namespace rekindle::agent {
namespace {

constexpr double kTidySeconds = 5;
// The connection to the coordinator is checked every `kLookForConnectionSeconds` if there are no lines to send.
constexpr double kLookForConnectionSeconds = 2;
constexpr double kLongestWait = 60;

std::chrono::duration<double> Seconds(double seconds) {
  return std::chrono::duration<double>(std::clamp(seconds, 0.0, kLongestWait));
}

}  // namespace

LogShipper::LogShipper(Options options)
    : options_(std::move(options)), backlog_(options_.folder, options_.limits, options_.free_blocks) {}

void LogShipper::Run(Transport transport) {
  transport_ = std::move(transport);
  thread_ = std::thread([this] { Loop(); });
}

void LogShipper::Stop() {
  {
    const common::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  if (!thread_.joinable()) return;
  transport_.cancel();
  thread_.join();
}

void LogShipper::Start(const std::string& trainer, const std::string& job_uid, const std::string& path) {
  Tell({trainer, job_uid, path, common::SteadySeconds()});
}

void LogShipper::End(const std::string& trainer) { Tell({.trainer = trainer, .at = common::SteadySeconds()}); }

void LogShipper::Tell(News news) {
  {
    const common::MutexLock lock(mutex_);
    news_.push_back(std::move(news));
    is_all_sent_ = false;
  }
  changed_.NotifyAll();
}

void LogShipper::Finish(double seconds) {
  const double until = common::SteadySeconds() + seconds;
  common::MutexLock lock(mutex_);
  while (!stopping_ && thread_.joinable() && !is_all_sent_ && transport_.connection() != 0) {
    const double left = until - common::SteadySeconds();
    if (left <= 0) {
      log::Warning("leaving before the coordinator has all that the trainers wrote");
      return;
    }
    changed_.WaitFor(lock, Seconds(std::min(left, options_.period_seconds)),
                     [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || is_all_sent_; });
  }
}

void LogShipper::Take(const std::vector<News>& news) {
  for (const News& each : news) {
    if (each.job_uid.empty()) {
      backlog_.End(each.trainer, each.at);
    } else {
      backlog_.Start(each.trainer, each.job_uid, each.path);
    }
  }
}

void LogShipper::Loop() {
  backlog_.Recall();
  common::MutexLock lock(mutex_);
  while (!stopping_) {
    const std::vector<News> news = std::exchange(news_, {});
    lock.Unlock();
    Take(news);
    const double next = Turn();
    const bool is_all_sent = backlog_.IsAllSent();
    lock.Lock();
    is_all_sent_ = is_all_sent && news_.empty();
    // LogShipper::Finish waits for `is_all_sent_`, which says that no log line is left to send.
    changed_.NotifyAll();
    const double wait = next - common::SteadySeconds();
    // News of a trainer's start or end waits until the logs are next read, so that one report has a trainer's last
    // lines and its end.
    changed_.WaitFor(lock, Seconds(std::min(wait, options_.period_seconds)),
                     [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_; });
    if (wait <= options_.period_seconds) continue;
    changed_.WaitFor(lock, Seconds(wait - options_.period_seconds),
                     [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || !news_.empty(); });
  }
}

double LogShipper::Turn() {
  const double now = common::SteadySeconds();
  if (now >= tidy_at_) {
    backlog_.Tidy(common::WallSeconds());
    tidy_at_ = now + kTidySeconds;
  }
  const int64_t connection = transport_.connection();
  if (std::exchange(connection_, connection) != connection && connection != 0) backlog_.Greet();
  const v1::LogReport report = connection != 0 ? backlog_.NextReport(now) : v1::LogReport();
  if (report.pieces().empty()) {
    const double next = std::min(backlog_.NextSendAt(now), now + kLookForConnectionSeconds);
    return std::max(next, now + options_.period_seconds);
  }
  const bool has_more = backlog_.has_more();
  const absl::StatusOr<v1::LogReply> reply = transport_.send(report);
  const double answered = common::SteadySeconds();
  if (reply.ok() && backlog_.TakeReply(report, *reply, answered)) {
    retry_seconds_ = 0;
    return answered + (has_more ? options_.backlog_seconds : options_.period_seconds);
  }
  retry_seconds_ = std::min(std::max(2 * retry_seconds_, options_.period_seconds), options_.longest_retry_seconds);
  return answered + retry_seconds_;
}

}  // namespace rekindle::agent
