// Checks who comes together in a generation. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_SIM_MEMBERS_H_
#define REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_SIM_MEMBERS_H_

#include "rekindle/v1/membership.pb.h"
#include "tests/simulation/coordinator/coordinator.h"
#include "tests/simulation/coordinator/turn_observer.h"
#include "tests/simulation/world/sim_world.h"

namespace rekindle::core::simulation {

// Checks that the members of a generation belong together, and that they exchange as they can.
class MembersCheck final : public TurnObserver {
 public:
  MembersCheck(const World& world, Journal& journal, const Coordinator& coordinator)
      : world_(world), journal_(journal), coordinator_(coordinator) {}

  void TurnDecided(const Turn&) override {
    if (!coordinator_.Answers() || world_.now() > decided_at_ + kLongestPause) decides_since_ = world_.now();
    decided_at_ = world_.now();
  }
  void JobSaved(const SimJob& job, const v1::JobRecord& before, const v1::JobRecord& now) override;

 private:
  static constexpr double kLongestPause = 2;

  // Checks that no member ended long before the coordinator formed the generation.
  void CheckAlive(const v1::Membership& membership);
  // Checks that all members read the same data and compute alike.
  void CheckAlike(const v1::Membership& membership);
  // Checks that members exchange by NCCL only if all of them have one version, and that they do where nothing has gone
  // wrong. A process that has left NCCL may not have said so yet.
  void CheckTransport(const SimJob& job, const v1::Membership& membership);

  const World& world_;
  Journal& journal_;
  const Coordinator& coordinator_;
  // The generations that are being saved were decided at `decided_at_`.
  double decided_at_ = 0;
  // The coordinator has decided without a long pause since `decides_since_`. In a pause, for example because the
  // database cannot be written, it takes in nothing that it hears. While it listens first, it keeps what it hears, and
  // takes all of that in at the end.
  double decides_since_ = 0;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_CHECKS_GENERATIONS_SIM_MEMBERS_H_
