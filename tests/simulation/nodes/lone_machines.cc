#include "tests/simulation/nodes/lone_machines.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/agreed/agreed_limits.h"

namespace rekindle::core::simulation {
namespace {

// Returns whether the process has made all steps. Such a process keeps the result and does not exit before the result
// is durable.
bool KeepsFinalState(const Process& process) {
  return In(process, process.report.generation()) && process.report.step() >= process.job->options.steps;
}

}  // namespace

void LoneMachines::Heard(SimNode& node, double sent, double alone_seconds, double spend_seconds) {
  const std::vector<Process*> running = world_.Running(node);
  const bool leaves_alone = std::any_of(running.begin(), running.end(), [&](const Process* process) {
    return node.decides.left_alone.count(process->job->uid) > 0;
  });
  node.alone.Heard(sent, alone_seconds, std::isinf(spend_seconds) ? std::nullopt : std::optional(spend_seconds),
                   leaves_alone);
}

void LoneMachines::ConsiderEnd(SimNode& node) {
  const bool is_heard = coordinator_.is_up() && node.unheard_until <= world_.now();
  const std::vector<Process*> running = world_.Running(node);
  if (is_heard || world_.now() * node.clock_rate < node.alone.until()) {
    node.ends_at = 0;
    return;
  }
  // Once its time without a coordinator is over, the machine has until `ends_at` to save what runs on it.
  if (node.ends_at == 0) {
    node.ends_at = world_.now() + world_.chance.Uniform(0, world_.chance.Happens(0.7) ? 5 : common::kMachineEndSeconds);
  }
  const bool is_kept =
      std::any_of(running.begin(), running.end(), [](const Process* p) { return KeepsFinalState(*p); });
  if (is_kept || (!running.empty() && world_.now() < node.ends_at)) return;
  world_.journal.Note(absl::StrCat("machine ", node.name, " ends itself"));
  world_.journal.Count(Fault::kMachineEndsItself);
  end_(node.name);
}

}  // namespace rekindle::core::simulation
