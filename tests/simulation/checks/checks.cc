#include "tests/simulation/checks/checks.h"

#include <initializer_list>

namespace rekindle::core::simulation {

Checks::Checks(World& world, Coordinator& coordinator)
    : statuses(world.journal, coordinator),
      answers(world, world.journal, coordinator),
      durable(world.journal),
      memberships(world.journal),
      members(world, world.journal, coordinator),
      losses(world, world.journal, coordinator),
      bills(world, world.journal, coordinator),
      reductions(world.journal),
      left_alone(world, world.journal, coordinator),
      adoption(world, world.journal, coordinator),
      inversion(world, world.journal, coordinator) {
  for (TurnObserver* observer :
       std::initializer_list<TurnObserver*>{&statuses, &answers, &durable, &memberships, &members, &losses, &bills}) {
    coordinator.Add(observer);
  }
  for (Observer* observer : std::initializer_list<Observer*>{&durable, &bills, &reductions, &left_alone, &adoption}) {
    world.observers.push_back(observer);
  }
}

}  // namespace rekindle::core::simulation
