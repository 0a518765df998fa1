#include "coordinator/scheduler/history.h"

#include <algorithm>
#include <numeric>

namespace rekindle::scheduler {
namespace {

// Before anything was observed, a slot is assumed to be lost once in `kLostHours` hours while it is there, and to come
// back once in `kBackHours` hours while it is away. Each has a value for young and for old slots, from the middle of
// what public studies of spot GPUs show. This prior weighs no more than one event, so a day of observation outweighs
// it.
constexpr std::array<double, 2> kLostHours = {2, 8};
constexpr std::array<double, 2> kBackHours = {1, 4};
// Before a loss was observed, another pool is assumed to have room in the share `kElsewhere` of all losses. That prior
// weighs as much as `kElsewhereWeight` losses, so that the first loss alone does not decide whether a job counts on
// other pools. Both were chosen by hand, and no results with other values are recorded.
constexpr double kElsewhere = 0.5;
constexpr double kElsewhereWeight = 2;

}  // namespace

void SpotHistory::Count(const Slots& before, int now_up, double hours, bool up,
                        std::vector<std::array<Seen, 2>>& seen) {
  const int units = static_cast<int>(before.since.size());
  const int begin = up ? 0 : before.up;
  const int end = up ? before.up : units;
  for (int slot = begin; slot < end; ++slot) {
    Seen& of_age = seen[Quarter(slot)][AgeOf(before.since[slot])];
    of_age.hours += hours;
    if (up ? slot >= now_up : slot < now_up) of_age.events += 1;
  }
}

void SpotHistory::Change(Slots& slots, int up, double now) {
  for (int slot = std::min(slots.up, up); slot < std::max(slots.up, up); ++slot) slots.since[slot] = now;
  slots.up = up;
}

void SpotHistory::Observe(const std::vector<int>& slots, int units, double now) {
  std::vector<int> up = slots;
  for (int& u : up) u = std::clamp(u, 0, units);
  const int all = std::min(units, std::accumulate(up.begin(), up.end(), 0));
  if (pools_.empty()) {
    // Nobody knows for how long the slots have been as they are at the first observation, so they count as old.
    const Slots first{.up = 0, .since = std::vector<double>(units, now - kOldAfterHours)};
    pools_.assign(slots.size(), first);
    any_ = first;
    lost_.resize(kQuarters);
    back_.resize(kQuarters);
    for (size_t p = 0; p < slots.size(); ++p) pools_[p].up = up[p];
    any_.up = all;
    spot_pools_ = static_cast<int>(std::count_if(slots.begin(), slots.end(), [](int s) { return s >= 0; }));
    since_now_ = now;
    return;
  }
  // After a pause, or on another kind of device, a job may have more units than before. Slots are then added.
  const auto grow = [&](Slots& of) {
    if (of.since.size() < static_cast<size_t>(units)) of.since.resize(units, now - kOldAfterHours);
  };
  std::for_each(pools_.begin(), pools_.end(), grow);
  grow(any_);
  // Lost capacity may have grown old since the last observation. It counts with the age that it had at that
  // observation.
  const double hours = now - since_now_;
  for (size_t p = 0; p < slots.size(); ++p) {
    if (slots[p] < 0) continue;
    Count(pools_[p], up[p], hours, true, lost_);
    const int lost = std::max(0, pools_[p].up - up[p]);
    losses_ += lost;
    losses_elsewhere_ += std::min(lost, std::max(0, all - up[p]));
  }
  Count(any_, all, hours, false, back_);
  for (size_t p = 0; p < slots.size(); ++p) Change(pools_[p], up[p], now);
  Change(any_, all, now);
  since_now_ = now;
}

Hazards SpotHistory::Learned(int slot) const {
  Hazards out;
  const std::array<Seen, 2>& lost = lost_[Quarter(slot)];
  const std::array<Seen, 2>& back = back_[Quarter(slot)];
  for (const Age age : {kYoung, kOld}) {
    out.lost[age] = (1 + lost[age].events) / (kLostHours[age] + lost[age].hours);
    out.back[age] = (1 + back[age].events) / (kBackHours[age] + back[age].hours);
  }
  if (spot_pools_ > 1) {
    out.elsewhere = (kElsewhereWeight * kElsewhere + losses_elsewhere_) / (kElsewhereWeight + losses_);
  }
  return out;
}

}  // namespace rekindle::scheduler
