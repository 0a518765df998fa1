#include "worker/agent/notices/watcher.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "common/log/log.h"
#include "common/time/clock.h"

namespace rekindle::agent {
namespace {

// A poll of a notice source that takes longer than `kPatienceSeconds` counts as hung.
constexpr double kPatienceSeconds = 5;
// The agent's first report to the coordinator waits at most `kSettleSeconds` for one source of notices.
constexpr double kSettleSeconds = 1.5;
// A source's thread notices within `kSliceSeconds` that the watcher stops.
constexpr double kSliceSeconds = 0.05;
// A source of notices that fails is polled at least every `kSlowestSeconds`.
constexpr double kSlowestSeconds = 30;
constexpr double kAcknowledgeSeconds = 2;

}  // namespace

double NextPollSeconds(double interval_seconds, int failures) {
  return std::max(interval_seconds, std::min(kSlowestSeconds, interval_seconds * std::exp2(std::min(failures, 10))));
}

NoticeWatcher::NoticeWatcher(std::vector<OpenSource> sources, const common::Waker* waker, Count count)
    : waker_(waker), count_(std::move(count)) {
  watched_.resize(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) watched_[i].open = std::move(sources[i]);
  for (Watched& watched : watched_) watched.thread = std::thread([this, &watched] { Loop(watched); });
}

NoticeWatcher::~NoticeWatcher() { Stop(); }

Verdict NoticeWatcher::verdict() const {
  const common::MutexLock lock(mutex_);
  return verdict_;
}

bool NoticeWatcher::settled() const {
  const common::MutexLock lock(mutex_);
  return settled_.size() == watched_.size();
}

void NoticeWatcher::Stop() {
  {
    const common::MutexLock lock(mutex_);
    stopping_ = true;
  }
  stop_.NotifyAll();
  for (Watched& watched : watched_) {
    if (watched.thread.joinable()) watched.thread.join();
  }
}

void NoticeWatcher::Loop(Watched& watched) {
  const auto source = watched.open.source;
  std::optional<Call> call;
  int failures = 0;
  for (;;) {
    if (!call) call.emplace([source] { return Heard{source->Poll(common::WallSeconds())}; });
    const std::optional<Heard> heard = Await(watched, *call);
    if (heard) call.reset();
    failures = heard && heard->notices.ok() ? 0 : failures + 1;
    Note(watched, heard ? heard->notices : absl::DeadlineExceededError("no answer"), failures);
    common::MutexLock lock(mutex_);
    const std::chrono::duration<double> pause(NextPollSeconds(watched.open.interval_seconds, failures));
    if (stop_.WaitFor(lock, pause, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_; })) {
      watched.in_a_call = call.has_value();
      return;
    }
  }
}

std::optional<NoticeWatcher::Heard> NoticeWatcher::Await(Watched& watched, Call& call) {
  const double begun = common::SteadySeconds();
  for (double waited = 0; waited < kPatienceSeconds; waited = common::SteadySeconds() - begun) {
    absl::StatusOr<Heard> heard = call.Wait(kSliceSeconds);
    if (heard.ok()) return *std::move(heard);
    const common::MutexLock lock(mutex_);
    if (stopping_) break;
    if (waited >= kSettleSeconds && settled_.insert(&watched).second) waker_->Wake();
  }
  return std::nullopt;
}

void NoticeWatcher::Note(Watched& watched, const absl::StatusOr<std::vector<Notice>>& heard, int failures) {
  const std::string& name = watched.open.name;
  const common::MutexLock lock(mutex_);
  if (stopping_) return;
  if (failures == 1) {
    log::Warning("notices cannot be heard; asking on",
                 {{"source", name}, {"error", std::string(heard.status().message())}});
  }
  const double steady = common::SteadySeconds();
  if (heard.ok()) {
    const NoticeCounts counts = judge_.Hear(name, *heard, common::WallSeconds(), steady);
    if (count_ && counts != NoticeCounts()) count_(name, counts);
  }
  const Verdict verdict = judge_.Decide(steady);
  const bool settles = settled_.insert(&watched).second;
  if (verdict != verdict_ || settles) waker_->Wake();
  if (verdict.leaves && !verdict_.leaves) log::Warning("this machine will be taken", {{"reason", verdict.reason}});
  if (!verdict.leaves && verdict_.leaves) log::Info("the notice was withdrawn");
  verdict_ = verdict;
}

void NoticeWatcher::AcknowledgeAll() {
  Stop();
  std::vector<std::pair<std::string, Notice>> due;
  {
    const common::MutexLock lock(mutex_);
    due = judge_.ToAcknowledge(common::SteadySeconds());
  }
  for (const auto& [name, notice] : due) {
    for (Watched& watched : watched_) {
      if (watched.open.name != name || watched.in_a_call) continue;
      common::Abandonable<bool> call([source = watched.open.source, notice = notice]() -> absl::StatusOr<bool> {
        const absl::Status told = source->Acknowledge(notice);
        if (!told.ok()) return told;
        return true;
      });
      const absl::StatusOr<bool> told = call.Wait(kAcknowledgeSeconds);
      watched.in_a_call = absl::IsDeadlineExceeded(told.status());
      if (told.ok()) {
        log::Info("drained: told that the machine may be taken", {{"source", name}, {"notice", notice.what}});
      } else {
        log::Warning("cannot acknowledge a notice",
                     {{"source", name}, {"error", std::string(told.status().message())}});
      }
    }
  }
}

}  // namespace rekindle::agent
