// Builds the next membership from a chosen pool of trainers. Pure: same input, same membership.
#ifndef REKINDLE_COORDINATOR_CORE_FORMATION_H_
#define REKINDLE_COORDINATOR_CORE_FORMATION_H_

#include <string>
#include <vector>

#include "coordinator/core/ranges.h"
#include "rekindle/v1/membership.pb.h"

namespace rekindle::core {

struct Candidate {
  std::string trainer;
  std::string node;
  std::string address;
  std::string host;
  int previous_rank = -1;  // In the membership before; -1: joins.
  bool live = false;       // Holds whole state at (step, attempt) that may be used.
  int step = 0;
  int attempt = 0;
  Holding holding;  // `seconds` <= 0: not measured.
};

// Where the state comes from. For kRank the member is the lowest rank that is live at (step, attempt).
struct Origin {
  enum class Kind { kInitial, kRank, kCheckpoint };
  Kind kind = Kind::kInitial;
  int step = 0;
  int attempt = 0;
  std::string manifest;
};

// The highest (step, attempt) among the live ones; null when none is live.
const Candidate* FindBest(const std::vector<Candidate>& pool);

// Without a reason. `boundary`: between two steps, so nobody holds anything. Survivors keep their order, joiners follow
// by name; when there are more than micro-batches the last wait as spares. REQUIRES: a pool that is not empty; for
// kRank somebody live at (origin.step, origin.attempt).
v1::Membership BuildMembership(std::vector<Candidate> pool, const Origin& origin, bool boundary, int micro_batches,
                               int generation);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_FORMATION_H_
