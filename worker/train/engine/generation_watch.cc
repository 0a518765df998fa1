#include "worker/train/engine/generation_watch.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace rekindle::train {
namespace {

// After `kIdleSeconds` without a new directive the thread of the watch checks whether it has to stop.
constexpr double kIdleSeconds = 0.2;

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

GenerationWatch::GenerationWatch(const DirectiveBox& directives)
    : directives_(directives), thread_([this] { Run(); }) {}

GenerationWatch::~GenerationWatch() {
  stopping_ = true;
  thread_.join();
}

void GenerationWatch::Enter(int generation, std::function<void(const absl::Status&)> end) {
  const common::MutexLock lock(mutex_);
  generation_ = generation;
  end_ = std::move(end);
  EndIfOver();
}

void GenerationWatch::Leave() {
  const common::MutexLock lock(mutex_);
  end_ = nullptr;
}

void GenerationWatch::EndIfOver() {
  if (!end_) return;
  const absl::Status goes_on = CheckGoesOn(directives_.Latest(), generation_);
  if (goes_on.ok()) return;
  end_(goes_on);
  end_ = nullptr;
}

void GenerationWatch::Run() {
  // Once the box is closed, waiting for another directive would be a loop without a pause.
  for (bool is_open = true; is_open && !stopping_;) {
    const int64_t version = directives_.Version();
    {
      const common::MutexLock lock(mutex_);
      EndIfOver();
    }
    is_open = directives_.WaitForChange(version, kIdleSeconds);
  }
  const common::MutexLock lock(mutex_);
  EndIfOver();
}

}  // namespace rekindle::train
