// The loop while the state store cannot be written, and at its end.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "coordinator/server/loop.h"

namespace rekindle::coordinator {
namespace {

constexpr double kFirstRetry = 0.1;
constexpr double kLongestRetry = 5;
constexpr double kLogFailureEvery = 10;

}  // namespace

void Loop::CommitFailed(const absl::Status& status) {
  commit_failures_.Increment();
  const bool first = !failing();
  if (first) failed_since_ = now();
  failure_ = status;
  retry_after_ = std::clamp(2 * retry_after_, kFirstRetry, kLongestRetry);
  retry_at_ = now() + retry_after_;
  if (first || now() >= logged_failure_at_ + kLogFailureEvery) {
    logged_failure_at_ = now();
    log::Error("the state cannot be saved: nothing new is decided until it can; trainers go on",
               {{"error", std::string(status.message())}});
  }
  if (first) options_.on_serving(false);  // Before the answers: who was refused finds the health service agreeing.
  for (auto& [done, reply] : std::exchange(unpublished_.answers, {})) {
    done(absl::UnavailableError(absl::StrCat("the change is not saved yet: ", status.message(),
                                             "; it will be, so ask again with the same request_id")));
  }
  if (absl::IsAborted(status)) options_.on_fatal(status);
}

absl::Status Loop::WhyNoChange() const {
  if (!ended_.ok() || !failing()) return ended_;
  return absl::UnavailableError(absl::StrCat("the state cannot be saved: ", failure_.message()));
}

void Loop::Hold(std::vector<Item> items) {
  for (Item& item : items) {
    if (auto* mutation = std::get_if<Mutation>(&item)) {
      mutation->done(WhyNoChange());
    } else if (auto* task = std::get_if<Task>(&item)) {
      (*task)();
    } else {
      held_.push_back(std::move(item));
    }
  }
  ExpireHeld();
}

void Loop::ExpireHeld() {
  std::vector<Item> kept;
  const auto refuse = [this](auto& item) { item.reply(absl::UnavailableError(failure_.message())); };
  for (Item& item : held_) {
    auto* trainer = std::get_if<TrainerItem>(&item);
    auto* node = std::get_if<NodeItem>(&item);
    if (trainer != nullptr && trainer->deadline <= now()) {
      refuse(*trainer);
    } else if (node != nullptr && node->deadline <= now()) {
      refuse(*node);
    } else {
      kept.push_back(std::move(item));
    }
  }
  held_ = std::move(kept);
}

void Loop::RefuseAll(std::vector<Item> items) {
  for (Item& item : std::exchange(held_, {})) items.push_back(std::move(item));
  for (Item& item : items) {
    if (auto* trainer = std::get_if<TrainerItem>(&item)) trainer->reply(ended_);
    if (auto* node = std::get_if<NodeItem>(&item)) node->reply(ended_);
    if (auto* mutation = std::get_if<Mutation>(&item)) mutation->done(ended_);
    if (auto* task = std::get_if<Task>(&item)) (*task)();
  }
  for (auto& [done, reply] : std::exchange(unpublished_.answers, {})) done(ended_);
  trainer_polls_.AnswerAll(ended_);
  node_polls_.AnswerAll(ended_);
  bulletin_.WakeAll();
}

void Loop::EndWith(std::vector<Item> items) {
  RefuseAll(std::move(items));
  const std::lock_guard lock(mutex_);
  if (superseded_.ok() || journal_.empty()) return;
  if (absl::Status saved = journal_.Commit(); !saved.ok()) {
    log::Error("that this coordinator was superseded could not be saved", {{"error", std::string(saved.message())}});
  }
}

void Loop::BeSilent(std::vector<Item> items) {
  RefuseAll(std::move(items));
  options_.on_serving(false);
  if (!journal_.empty() && (!failing() || now() >= retry_at_)) {
    const absl::Status committed = journal_.Commit();
    if (!committed.ok()) CommitFailed(committed);
    if (committed.ok()) failure_ = absl::OkStatus();
  }
  if (on_silent_) std::exchange(on_silent_, nullptr)();
}

}  // namespace rekindle::coordinator
