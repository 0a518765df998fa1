// Models how long jobs may spend and ordered machines may run without word from the coordinator. It follows
// coordinator/server/{boards/lease_book,loop/loop}.cc. The real Lease decides for a trainer and the real Alone for an
// agent.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/agreed/agreed_limits.h"
#include "tests/simulation/sim_cluster.h"

namespace rekindle::core::simulation {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

bool IsOver(const v1::JobRecord& record) {
  const v1::JobState state = record.job().status().state();
  return state == v1::SUCCEEDED || state == v1::FAILED || state == v1::CANCELLED;
}

}  // namespace

void SimCluster::SetSpending(const v1::JobRecord& record) {
  const std::string& uid = record.job().uid();
  if (record.granted_until() <= 0 || IsOver(record)) {
    spend_until_.erase(uid);
  } else {
    spend_until_[uid] = record.granted_until() - wall_offset_;
  }
}

double SimCluster::SpendSeconds(const std::string& uid) const {
  const auto until = spend_until_.find(uid);
  return until == spend_until_.end() ? kNever : std::max(0.0, until->second - queue_.now());
}

void SimCluster::TellAlone(SimNode& node, double sent, double alone_seconds, double spend_seconds) {
  const std::vector<Process*> running = Running(node);
  const bool leaves_alone = std::any_of(running.begin(), running.end(), [&](const Process* process) {
    return node.decides.left_alone.count(process->job->uid) > 0;
  });
  node.alone.Heard(sent, alone_seconds, std::isinf(spend_seconds) ? std::nullopt : std::optional(spend_seconds),
                   leaves_alone);
}

// Returns whether the process has made all steps. Such a process keeps the result and does not exit before the result
// is durable.
bool SimCluster::KeepsFinalState(const Process& process) {
  return In(process, process.report.generation()) && process.report.step() >= process.job->options.steps;
}

// Ends an ordered machine whose time without a coordinator is over. As long as a coordinator answers, the coordinator
// decides instead.
void SimCluster::ConsiderEnd(SimNode& node) {
  const bool is_heard = coordinator_up_ && node.unheard_until <= queue_.now();
  const std::vector<Process*> running = Running(node);
  if (is_heard || queue_.now() * node.clock_rate < node.alone.until()) {
    node.ends_at = 0;
    return;
  }
  // Once its time without a coordinator is over, the machine has until `ends_at` to save what runs on it.
  if (node.ends_at == 0) {
    node.ends_at = queue_.now() + chance_.Uniform(0, chance_.Happens(0.7) ? 5 : common::kMachineEndSeconds);
  }
  const bool is_kept =
      std::any_of(running.begin(), running.end(), [](const Process* p) { return KeepsFinalState(*p); });
  if (is_kept || (!running.empty() && queue_.now() < node.ends_at)) return;
  Note(absl::StrCat("machine ", node.name, " ends itself"));
  tally_.Count(Fault::kMachineEndsItself);
  EndMachine(node.name);
}

}  // namespace rekindle::core::simulation
