// Puts the parts of this room together. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_CHECKS_CHECKS_H_
#define REKINDLE_TESTS_SIMULATION_CHECKS_CHECKS_H_

#include "tests/simulation/checks/answers.h"
#include "tests/simulation/checks/bills.h"
#include "tests/simulation/checks/generations/losses.h"
#include "tests/simulation/checks/generations/memberships.h"
#include "tests/simulation/checks/generations/reductions.h"
#include "tests/simulation/checks/generations/sim_durable.h"
#include "tests/simulation/checks/generations/sim_members.h"
#include "tests/simulation/checks/inversion.h"
#include "tests/simulation/checks/sim_adoption.h"
#include "tests/simulation/checks/sim_left_alone.h"
#include "tests/simulation/checks/statuses.h"
#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Owns the checks, each of which finds out by itself what it needs. All that they have in common is that they note
// violations in the world's journal.
struct Checks {
  // The checks observe the world and the coordinator from now on.
  Checks(World& world, Coordinator& coordinator);
  Checks(const Checks&) = delete;
  Checks& operator=(const Checks&) = delete;

  StatusCheck statuses;
  AnswerCheck answers;
  DurableCheck durable;
  MembershipCheck memberships;
  MembersCheck members;
  LossCheck losses;
  BillCheck bills;
  ReductionCheck reductions;
  LeftAloneCheck left_alone;
  AdoptionCheck adoption;
  InversionCheck inversion;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_CHECKS_CHECKS_H_
