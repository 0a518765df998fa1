// Defines the communicator of one generation as a plain value. This file is for tests only.
#ifndef REKINDLE_TESTS_SIMULATION_WORLD_FABRIC_H_
#define REKINDLE_TESTS_SIMULATION_WORLD_FABRIC_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rekindle/v1/membership.pb.h"
#include "worker/train/control/control_plane.h"

namespace rekindle::core::simulation {

// Models the communicator of one generation.
struct Fabric {
  v1::Membership membership;
  train::Membership plain;
  std::set<std::string> entered;
  std::set<std::string> aborted;
  std::set<std::string> has_state;
  // `contributed` maps each trainer to the step to which it has contributed, and to the micro-batches that it gave.
  std::map<std::string, std::pair<int, std::set<int>>> contributed;
  bool connected = false;
  // `holds` maps each trainer to whether its lease held when it contributed to its newest step.
  std::map<std::string, bool> holds;
  // `cuts` maps a step to the ends of the ranges of micro-batches that the ranks use from that step on.
  std::map<int, std::vector<int>> cuts;
  // `reduced` is the newest step whose all-reduce is done.
  int reduced = -1;
  // With a sharded state, `prepared` maps a step to the trainers that have prepared it and can apply their part alone.
  std::map<int, std::set<std::string>> prepared;
  // `applied` maps a number of steps to the trainers that have applied that many.
  std::map<int, std::set<std::string>> applied;
};

inline const v1::Member* FindMember(const v1::Membership& membership, const std::string& id) {
  for (const v1::Member& member : membership.members()) {
    if (member.trainer() == id) return &member;
  }
  return nullptr;
}

}  // namespace rekindle::core::simulation

#endif  // REKINDLE_TESTS_SIMULATION_WORLD_FABRIC_H_
