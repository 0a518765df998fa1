// Builds the next membership from a chosen pool of trainers. Pure: same input, same membership.
#ifndef REKINDLE_COORDINATOR_CORE_FORMATION_H_
#define REKINDLE_COORDINATOR_CORE_FORMATION_H_

#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/ranges.h"
#include "rekindle/v1/membership.pb.h"

namespace rekindle::core {

struct Candidate {
  std::string trainer;
  std::string node;
  std::string address;
  std::string host;
  v1::ProcessName process;
  int previous_rank = -1;  // In the membership before; -1: joins.
  bool live = false;       // Holds whole state at (step, attempt) that may be used.
  int step = 0;
  int attempt = 0;
  Holding holding;  // `seconds` <= 0: not measured.
  // Of the optimizer's moments, where they are in shards: [begin, end) of blocks. No blocks: it has all of them.
  int total_blocks = 0;
  std::vector<std::pair<int, int>> blocks;
  bool prepared = false;  // Can make them those of step + 1.
};

// Where the state comes from. For kRank the member is the lowest rank that is live at (step, attempt).
struct Origin {
  enum class Kind { kInitial, kRank, kCheckpoint };
  Kind kind = Kind::kInitial;
  int step = 0;
  int attempt = 0;
  std::string manifest;
  std::string lost;  // For a sentence: what of newer, live state is missing.
};

// Whether the live ones among them have all of the state of `step` together.
bool HoldTogether(const std::vector<Candidate>& pool, int step);

// The highest (step, attempt) among the live ones that all of the state is there of; null when there is none.
const Candidate* FindBest(const std::vector<Candidate>& pool);

// Without a reason. `boundary`: between two steps, so nobody holds anything. Survivors keep their order, joiners follow
// by name; when there are more than micro-batches, or than ranks can be, the last wait as spares. REQUIRES: a pool that
// is not empty; for kRank somebody live at (origin.step, origin.attempt).
v1::Membership BuildMembership(std::vector<Candidate> pool, const Origin& origin, bool boundary, int micro_batches,
                               int generation);

// Of all that a membership says but its digest.
std::string DigestOf(v1::Membership membership);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_FORMATION_H_
