#include "tests/simulation/trainers/leases.h"

#include <cmath>

namespace rekindle::core::simulation {
namespace {

constexpr double kAskSeconds = 0.3;

}  // namespace

void TakeLease(Process& process, const Answer& answer, double sent) {
  const v1::TrainerDirective& directive = answer.directive;
  if (directive.tell_membership()) return;
  process.lease->Spend(answer.spend_seconds, sent);
  if (!LetsRun(directive)) return;
  const v1::Membership& membership = directive.membership();
  process.lease->Begin(membership.generation(), membership.lease_seconds(), sent);
}

bool IsFresh(const World& world, const Process& process, int generation) {
  const double longest = process.job->fabrics.at(generation).membership.lease_step_seconds();
  return process.lease->Holds(generation) || world.ClockOf(process) - process.said <= longest;
}

void LeaseAsker::Loop(const std::string& id) {
  const Process& process = world_.processes[id];
  if (LetsRun(process.directive)) Ask(process, process.directive.membership().generation());
  world_.AtProcess(id, kAskSeconds, [this](Process& p) { Loop(p.id); });
}

void LeaseAsker::Ask(const Process& process, int generation) {
  const double sent = world_.ClockOf(process);
  world_.Send(process.node, [this, id = process.id, generation, sent] {
    if (!coordinator_.is_up()) return;
    const Process& asks = world_.processes[id];
    const bool stands = coordinator_.leases().Renew(asks.job->uid, generation);
    const double spend_seconds = coordinator_.leases().SpendSeconds(asks.job->uid);
    world_.Send(asks.node, [this, id, generation, sent, stands, spend_seconds] {
      world_.AtProcess(id, 0, [generation, sent, stands, spend_seconds](Process& p) {
        if (stands) p.lease->Renew(generation, sent);
        if (stands || !std::isinf(spend_seconds)) p.lease->Spend(spend_seconds, sent);
      });
    });
  });
}

}  // namespace rekindle::core::simulation
