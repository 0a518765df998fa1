#include "coordinator/server/loop/held_reports.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace rekindle::coordinator {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

double DeadlineOf(const LoopItem& item) {
  if (const auto* trainer = std::get_if<TrainerItem>(&item)) return trainer->deadline;
  if (const auto* node = std::get_if<NodeItem>(&item)) return node->deadline;
  return kNever;
}

}  // namespace

void HeldReports::Hold(std::vector<LoopItem> items, const absl::Status& why) {
  for (LoopItem& item : items) {
    if (auto* mutation = std::get_if<Mutation>(&item)) {
      mutation->done(why);
    } else if (auto* task = std::get_if<LoopTask>(&item)) {
      (*task)();
    } else {
      items_.push_back(std::move(item));
    }
  }
}

void HeldReports::Expire(double now, const absl::Status& why) {
  std::vector<LoopItem> kept, over;
  for (LoopItem& item : items_) (DeadlineOf(item) <= now ? over : kept).push_back(std::move(item));
  items_ = std::move(kept);
  Refuse(std::move(over), why);
}

double HeldReports::NextDeadline() const {
  double next = kNever;
  for (const LoopItem& item : items_) next = std::min(next, DeadlineOf(item));
  return next;
}

std::vector<LoopItem> HeldReports::Take() { return std::exchange(items_, {}); }

}  // namespace rekindle::coordinator
