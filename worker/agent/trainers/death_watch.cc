#include "worker/agent/trainers/death_watch.h"

#include <utility>

#include "common/log/log.h"

namespace rekindle::agent {
namespace {

// The watch's thread checks every `kLookSeconds` whether it has to stop, because the request to stop may come just
// before the thread begins to wait.
constexpr double kLookSeconds = 0.25;

}  // namespace

DeathWatch::DeathWatch(common::LifeLock lock, std::string trainer, const common::Waker* waker)
    : lock_(std::move(lock)),
      trainer_(std::move(trainer)),
      waker_(waker),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

DeathWatch::~DeathWatch() {
  thread_.request_stop();
  lock_.Wake();
}

void DeathWatch::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const absl::StatusOr<bool> died = lock_.AwaitDeath(kLookSeconds);
    if (!died.ok()) {
      log::Warning("the end of a trainer is noticed only when its memory is freed",
                   {{"trainer", trainer_}, {"why", std::string(died.status().message())}});
      return;
    }
    if (!*died) continue;
    hinted_ = true;
    waker_->Wake();
    return;
  }
}

}  // namespace rekindle::agent
