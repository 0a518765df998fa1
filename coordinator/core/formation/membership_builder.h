// Builds the next membership from a chosen pool of trainers. The functions are pure: the same input gives the same
// membership.
#ifndef REKINDLE_COORDINATOR_CORE_FORMATION_MEMBERSHIP_BUILDER_H_
#define REKINDLE_COORDINATOR_CORE_FORMATION_MEMBERSHIP_BUILDER_H_

#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/formation/ranges.h"
#include "rekindle/v1/membership.pb.h"

namespace rekindle::core {

struct Candidate {
  std::string trainer;
  std::string node;
  std::string address;
  std::string host;
  v1::ProcessName process;
  // `previous_rank` is the rank in the membership before, or -1 for a trainer that joins.
  int previous_rank = -1;
  // `live` says that the trainer holds state of (step, attempt) that may be used.
  bool live = false;
  int step = 0;
  int attempt = 0;
  // `holding` says which micro-batches the trainer holds and how fast it is. `holding.seconds` is 0 or less where the
  // speed was not measured.
  Holding holding;
  // `blocks` are the ranges [begin, end) of blocks of the optimizer's moments that the trainer holds, where these are
  // in shards. `total_blocks` is 0 where the trainer has all of the moments.
  int total_blocks = 0;
  std::vector<std::pair<int, int>> blocks;
  // `prepared` says that the trainer can turn its moments of `step` into those of step + 1.
  bool prepared = false;
};

// An Origin says where the state of a generation comes from. For kRank that is the member of the lowest rank that is
// live at (step, attempt).
struct Origin {
  enum class Kind { kInitial, kRank, kCheckpoint };
  Kind kind = Kind::kInitial;
  int step = 0;
  int attempt = 0;
  std::string manifest;
  // `lost` says, as part of a sentence, which parts of the live state of a later step are missing, so that this state
  // cannot be used.
  std::string lost;
};

// Returns whether the live candidates have all of the state of `step` together.
bool HoldTogether(const std::vector<Candidate>& pool, int step);

// Returns the live candidate of the highest (step, attempt) whose state the live candidates together hold as a whole.
// Returns null when there is none.
const Candidate* FindBest(const std::vector<Candidate>& pool);

// Returns a membership whose reason is not set yet. `boundary` says that the members stand between two steps, so that
// nobody holds micro-batches. Survivors keep their order, and joiners follow by name. Candidates beyond the number of
// micro-batches, or beyond the largest world size, wait as spares. REQUIRES: the pool is not empty, and for kRank
// somebody in it is live at (origin.step, origin.attempt).
v1::Membership BuildMembership(std::vector<Candidate> pool, const Origin& origin, bool boundary, int micro_batches,
                               int generation);

// Returns the digest of all fields of a membership but the digest itself.
std::string DigestOf(v1::Membership membership);

}  // namespace rekindle::core

#endif  // REKINDLE_COORDINATOR_CORE_FORMATION_MEMBERSHIP_BUILDER_H_
