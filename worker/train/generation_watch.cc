#include "worker/train/generation_watch.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace rekindle::train {
namespace {

constexpr double kIdleSeconds = 0.2;  // A wait without news; then the thread looks whether it was told to stop.

}  // namespace

absl::Status CheckGoesOn(const Directive& directive, int generation) {
  const int newest = directive.membership.generation;
  if (newest > generation) {
    return absl::AbortedError(absl::StrCat("the coordinator has announced generation ", newest));
  }
  if (directive.action == Directive::Action::kWait) {
    return absl::AbortedError(absl::StrCat("the coordinator says to wait: ", directive.reason));
  }
  return absl::OkStatus();
}

GenerationWatch::GenerationWatch(const ControlPlane& control) : control_(control), thread_([this] { Run(); }) {}

GenerationWatch::~GenerationWatch() {
  stopping_ = true;
  thread_.join();
}

void GenerationWatch::Enter(int generation, std::function<void(const absl::Status&)> end) {
  std::lock_guard lock(mutex_);
  generation_ = generation;
  end_ = std::move(end);
  Look();
}

void GenerationWatch::Leave() {
  std::lock_guard lock(mutex_);
  end_ = nullptr;
}

void GenerationWatch::Look() {
  if (!end_) return;
  const absl::Status goes_on = CheckGoesOn(control_.Latest(), generation_);
  if (goes_on.ok()) return;
  end_(goes_on);
  end_ = nullptr;
}

void GenerationWatch::Run() {
  while (!stopping_) {
    const int64_t version = control_.Version();
    {
      std::lock_guard lock(mutex_);
      Look();
    }
    control_.WaitForChange(version, kIdleSeconds);
  }
}

}  // namespace rekindle::train
