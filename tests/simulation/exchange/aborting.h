// Models the end of a generation that goes wrong. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_EXCHANGE_ABORTING_H_
#define REKINDLE_TESTS_SIMULATION_EXCHANGE_ABORTING_H_

#include <functional>
#include <set>
#include <string>
#include <utility>

#include "tests/simulation/exchange/nccl.h"
#include "tests/simulation/trainers/sim_voice.h"
#include "tests/simulation/world/sim_world.h"
#include "worker/comm/contract/communicator.h"

namespace rekindle::core::simulation {

// `kAccusesNobody` is the kind of accusation when a generation ends and no rank is accused.
inline constexpr auto kAccusesNobody = comm::Accusation::Kind::kClosed;

// An Aborting ends the communicators of processes. It knows which ranks are accused and which ranks notice the end.
class Aborting {
 public:
  // `obey` lets a process follow the newest directive that it has.
  Aborting(World& world, Voice& voice, Nccl& nccl, std::function<void(Process&)> obey)
      : world_(world), voice_(voice), nccl_(nccl), obey_(std::move(obey)) {}

  // Ends the communicator of the process's generation. What the process is writing at that moment is finished first.
  void Abort(Process& process, comm::Accusation::Kind kind, const std::set<std::string>& accused);
  // Ends the process's generation, and accuses the members that are not in `there`. A member is in `there` if it has
  // done in time what the process waited for.
  void AccuseMissing(Process& process, const std::set<std::string>& there);
  // Makes an interrupted process follow a newer directive, which it may have received while it was still stepping.
  void LeaveInterrupted(Process& process);
  // Closes the connections of the trainer `id` in `generation`. Its peers see that within `within` seconds.
  void TellPeers(const std::string& id, int generation, double within);

 private:
  World& world_;
  Voice& voice_;
  Nccl& nccl_;
  const std::function<void(Process&)> obey_;
};

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_EXCHANGE_ABORTING_H_
