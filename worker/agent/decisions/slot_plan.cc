#include "worker/agent/decisions/slot_plan.h"

#include <algorithm>

namespace rekindle::agent {
namespace {

class Planner {
 public:
  Planner(const Node& node, const Policy& policy, double now) : node_(node), policy_(policy), now_(now) {}

  Plan Run() {
    for (const auto& [number, slot] : node_.slots) {
      if (slot.running) {
        KeepOrStop(number, slot);
      } else {
        StartIfWanted(number, slot);
      }
    }
    return plan_;
  }

 private:
  void KeepOrStop(int number, const Slot& slot) {
    const RunningTrainer& running = *slot.running;
    if (running.killed_at && now_ < *running.killed_at + policy_.stuck_seconds) {
      plan_.wake_at = std::min(plan_.wake_at, *running.killed_at + policy_.stuck_seconds);
    }
    if (running.ending) return;
    std::string reason;
    if (node_.stop_all) {
      reason = "the node stops";
    } else if (node_.left_alone.count(running.job_uid) > 0) {
      // A trainer whose job the coordinator does not know keeps running, even if its slot is wanted for another job.
    } else if (node_.desired_known && !slot.wanted) {
      reason = "no longer wanted here";
    } else if (node_.desired_known && *slot.wanted != running.job_uid) {
      reason = "another job has its slot";
    }
    // A trainer that was asked to stop must go, even if it is wanted again meanwhile, because it may already be in the
    // middle of its exit.
    if (running.terminated_at) {
      Escalate(number, running);
    } else if (!reason.empty()) {
      plan_.actions.push_back({Action::kTerminate, number, reason});
    }
  }

  void Escalate(int number, const RunningTrainer& running) {
    if (running.killed_at) return;
    const double kill_at = *running.terminated_at + policy_.stop_grace_seconds;
    if (now_ >= kill_at) {
      plan_.actions.push_back({Action::kKill, number, "did not stop in time"});
    } else {
      plan_.wake_at = std::min(plan_.wake_at, kill_at);
    }
  }

  void StartIfWanted(int number, const Slot& slot) {
    if (!node_.desired_known || node_.draining || node_.stop_all || slot.out_of_use || !slot.wanted) return;
    const bool same_job = slot.deaths.job_uid == *slot.wanted;
    if (same_job && slot.deaths.awaits_acknowledgement) return;
    if (same_job && now_ < slot.deaths.not_before) {
      plan_.wake_at = std::min(plan_.wake_at, slot.deaths.not_before);
      return;
    }
    plan_.actions.push_back({Action::kStart, number, same_job ? "its trainer ended" : "wanted here"});
  }

  const Node& node_;
  const Policy& policy_;
  const double now_;
  Plan plan_;
};

}  // namespace

Plan Reconcile(const Node& node, const Policy& policy, double now) { return Planner(node, policy, now).Run(); }

std::set<int> StuckSlots(const Node& node, const Policy& policy, double now) {
  std::set<int> stuck;
  for (const auto& [number, slot] : node.slots) {
    const bool was_killed = slot.running && slot.running->killed_at;
    if (was_killed && now >= *slot.running->killed_at + policy.stuck_seconds) stuck.insert(number);
  }
  return stuck;
}

DeathRow AfterExit(const DeathRow& before, const RunningTrainer& ended, int exit_code, const Policy& policy,
                   double now) {
  DeathRow after = before.job_uid == ended.job_uid ? before : DeathRow{.job_uid = ended.job_uid};
  after.not_before = now;
  after.awaits_acknowledgement = !ended.terminated_at && exit_code == 0;
  if (ended.terminated_at) return after;
  const bool quick = now - ended.started_at < policy.quick_death_seconds;
  after.quick_deaths = quick ? after.quick_deaths + 1 : 1;
  const size_t row = static_cast<size_t>(after.quick_deaths - 1);
  after.not_before = now + policy.delays[std::min(row, policy.delays.size() - 1)];
  return after;
}

}  // namespace rekindle::agent
