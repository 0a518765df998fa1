// Chooses what carries the exchange between the devices of a generation's members. The choice is a pure function of
// what the members report, so that all of them exchange in the same way.
#ifndef REKINDLE_COORDINATOR_CORE_FORMATION_TRANSPORT_CHOICE_H_
#define REKINDLE_COORDINATOR_CORE_FORMATION_TRANSPORT_CHOICE_H_

#include <string>
#include <vector>

#include "rekindle/v1/membership.pb.h"
#include "rekindle/v1/trainer.pb.h"

namespace rekindle::core {

struct ExchangingMember {
  // `name` is the member's name in the reason.
  std::string name;
  // `device` is null for a member that computes on its processor.
  const v1::TrainerDevice* device = nullptr;
};

struct TransportChoice {
  v1::Transport transport = v1::TRANSPORT_HOST;
  // `reason` says why members that have a GPU do not exchange by NCCL. It is empty where there is nothing to say.
  std::string reason;
};

// Chooses NCCL where each member can use it together with all others. `members` is in rank order.
TransportChoice ChooseTransport(const std::vector<ExchangingMember>& members);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_FORMATION_TRANSPORT_CHOICE_H_
