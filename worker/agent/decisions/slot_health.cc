#include "worker/agent/decisions/slot_health.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "common/agreed/exit_codes.h"

namespace rekindle::agent {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

void SlotHealth::TrainerEnded(int slot, int exit_code, const std::string& words, double now) {
  bool is_out = exit_code == common::kExitDeviceGone;
  if (exit_code == common::kExitContextLost) {
    History& history = HistoryOf(slot);
    is_out = now - history.context_lost_at < policy_.context_seconds;
    history.context_lost_at = now;
  }
  if (is_out) TakeOut(slot, {.words = words.empty() ? "its GPU failed" : words}, now);
}

void SlotHealth::DriverSaid(int slot, const SlotFault& found, double now) {
  const auto fault = faults_.find(slot);
  if (!found.words.empty()) {
    TakeOut(slot, found, now);
    History& history = HistoryOf(slot);
    history.ask_at = history.out_until;
  } else if (fault != faults_.end()) {
    fault->second.driver_says_so = false;
    History& history = HistoryOf(slot);
    history.ask_at = history.out_until;
    if (now < history.out_until) return;
    history.changed_at = now;
    faults_.erase(fault);
  }
}

void SlotHealth::DriverWasSilent(double now) {
  for (const auto& [slot, fault] : faults_) HistoryOf(slot).ask_at = now + policy_.first_seconds;
}

double SlotHealth::ask_at() const {
  double earliest = kInfinity;
  for (const auto& [slot, fault] : faults_) earliest = std::min(earliest, history_.at(slot).ask_at);
  return earliest;
}

void SlotHealth::TakeOut(int slot, SlotFault fault, double now) {
  History& history = HistoryOf(slot);
  if (!IsOut(slot)) {
    if (now - history.changed_at >= policy_.longest_seconds) history.failures = 0;
    history.changed_at = now;
  }
  const double wait = policy_.first_seconds * std::exp2(history.failures);
  if (wait < policy_.longest_seconds) ++history.failures;
  history.out_until = now + std::min(wait, policy_.longest_seconds);
  history.ask_at = now;
  faults_[slot] = std::move(fault);
}

SlotHealth::History& SlotHealth::HistoryOf(int slot) {
  return history_.try_emplace(slot, History{.context_lost_at = -kInfinity, .changed_at = -kInfinity}).first->second;
}

}  // namespace rekindle::agent
