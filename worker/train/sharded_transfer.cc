// The shards of a generation from the holders of the one before, and what all of them together are.
#include <algorithm>
#include <cstring>
#include <utility>

#include "common/hash.h"
#include "worker/train/sharded_placement.h"
#include "worker/train/state_transfer.h"

namespace rekindle::train {
namespace {

constexpr int64_t kMoveElements = 1024 * 1024;  // In one message.

// Calls `each` with the parts of a range, of at most kMoveElements.
template <typename Each>
void ForParts(const ElementRange& range, const Each& each) {
  for (int64_t at = range.begin; at < range.end; at += kMoveElements) {
    each(ElementRange{at, std::min(range.end, at + kMoveElements)});
  }
}

size_t Bytes(const ElementRange& range) { return static_cast<size_t>(range.size()) * sizeof(float); }

}  // namespace

// Collective: what every rank has, by rank.
absl::Status ShardedPlacement::ShareHoldings(comm::Communicator& communicator, const TrainState& state,
                                             std::vector<Holding>* all) const {
  const bool has_state = !held_.empty();
  std::vector<int64_t> mine{has_state ? state.scalars.step : -1, pending_ ? 1 : 0};
  for (const ElementRange& range : held_) mine.insert(mine.end(), {range.begin, range.end});
  const auto ranks = static_cast<size_t>(communicator.world_size());
  const auto length = static_cast<int64_t>(mine.size());
  std::vector<int64_t> lengths(ranks);
  absl::Status status = communicator.AllGather(&length, lengths.data(), sizeof(length)).Wait();
  if (!status.ok()) return status;
  const auto longest = static_cast<size_t>(*std::max_element(lengths.begin(), lengths.end()));
  mine.resize(longest);
  std::vector<int64_t> gathered(longest * ranks);
  status = communicator.AllGather(mine.data(), gathered.data(), longest * sizeof(int64_t)).Wait();
  if (!status.ok()) return status;
  for (size_t rank = 0; rank < ranks; ++rank) {
    const int64_t* told = gathered.data() + rank * longest;
    Holding holding{.step = told[0], .prepared = told[1] != 0, .held = {}};
    for (int64_t i = 2; i + 1 < lengths[rank]; i += 2) holding.held.push_back({told[i], told[i + 1]});
    all->push_back(std::move(holding));
  }
  return absl::OkStatus();
}

absl::Status ShardedPlacement::SendMoments(comm::Communicator& communicator, const Move& move, int64_t target,
                                           TrainState& state) {
  std::vector<comm::Work> works;
  if (state.scalars.step == target) {
    ForParts(move.range, [&](const ElementRange& part) {
      for (FloatBuffer* moments : MomentsOf(state)) {
        works.push_back(communicator.Send(moments->data() + part.begin, Bytes(part), move.to));
      }
    });
    return WaitAll(works);
  }
  // Those after the step that is prepared, without touching what this rank may still have to stand by.
  absl::Status status;
  const int64_t most = std::min(kMoveElements, move.range.size());
  FloatBuffer weights(most), first(most), second(most);
  ForParts(move.range, [&](const ElementRange& part) {
    if (!status.ok()) return;
    MakeNew(state, part, {weights.data(), first.data(), second.data(), part.begin});
    works.clear();
    for (FloatBuffer* moments : {&first, &second}) {
      if (static_cast<int>(works.size()) == moments_) break;
      works.push_back(communicator.Send(moments->data(), Bytes(part), move.to));
    }
    status = WaitAll(works);
  });
  return status;
}

absl::Status ShardedPlacement::ReceiveMoments(comm::Communicator& communicator, const Move& move,
                                              const std::vector<FloatBuffer*>& moments) const {
  std::vector<comm::Work> works;
  ForParts(move.range, [&](const ElementRange& part) {
    for (FloatBuffer* to : moments) {
      works.push_back(communicator.Recv(to->data() + part.begin, Bytes(part), move.from));
    }
  });
  return WaitAll(works);
}

absl::Status ShardedPlacement::Transfer(comm::Communicator& communicator, const Membership& membership,
                                        const std::function<bool()>& may_swap, TrainState& state) {
  const int64_t target = membership.step;
  std::vector<Holding> all;
  if (absl::Status status = ShareHoldings(communicator, state, &all); !status.ok()) return status;
  std::vector<ElementSet> has, wants;
  for (int rank = 0; rank < communicator.world_size(); ++rank) {
    const Holding& holding = all[static_cast<size_t>(rank)];
    has.push_back(holding.Reaches(target) ? holding.held : ElementSet());
    wants.push_back(HeldBy(shards_, rank));
  }
  std::vector<Move> moves;
  if (!PlanMoves(has, wants, &moves)) {
    return absl::InternalError("the members do not hold all of the optimizer's state of step " +
                               std::to_string(target));
  }
  const auto self = static_cast<size_t>(rank_);
  const bool receives = membership.members[self].needs_state;
  // Into the moments' own memory, where there is nothing; but a state of another step stays whole.
  const bool beside = receives && !held_.empty() && !all[self].Reaches(target);
  TrainState received = receives ? TrainState::Zero(layout_, 0) : TrainState();
  absl::Status status;
  for (int rank = 0; status.ok() && rank < communicator.world_size(); ++rank) {
    if (!membership.members[static_cast<size_t>(rank)].needs_state || rank == membership.source_rank) continue;
    if (rank_ == membership.source_rank) status = SendState(communicator, rank, state, 0);
    if (rank_ == rank) status = ReceiveState(communicator, membership.source_rank, layout_, received);
  }
  for (size_t i = 0; status.ok() && i < moves.size(); ++i) {
    if (moves[i].from == rank_) status = SendMoments(communicator, moves[i], target, state);
    if (moves[i].to == rank_) status = ReceiveMoments(communicator, moves[i], MomentsOf(beside ? received : state));
  }
  if (!status.ok()) return status;
  const ElementSet held = Union(has[self], wanted_);
  if (receives) {
    if (!may_swap()) return absl::AbortedError("the generation ended before its state was taken over");
    TakeOver(beside, target, received, state);
  }
  if (!reporter_.Hold(ToBlocks(held), BlocksOf(layout_.total))) {
    return absl::AbortedError("the generation ended before its state was taken over");
  }
  held_ = held;
  return absl::OkStatus();
}

// Weights and scalars from the source; the moments are there, or follow from what is prepared.
void ShardedPlacement::TakeOver(bool beside, int64_t target, TrainState& received, TrainState& state) {
  if (!beside && pending_ && state.scalars.step + 1 == target) UpdateHeld(state);
  if (beside) {
    std::swap(state.first_moment, received.first_moment);
    std::swap(state.second_moment, received.second_moment);
  }
  // The model's parameters are views of the weights' memory.
  std::copy_n(received.weights.data(), received.weights.size(), state.weights.data());
  std::swap(state.scalars, received.scalars);
  pending_.reset();
}

// Each rank reads all of it once, in order, a part at a time.
absl::StatusOr<std::string> ShardedPlacement::Digest(comm::Communicator& communicator, TrainState& state) {
  common::Hasher hasher;
  hasher.Update(state.weights.data(), static_cast<size_t>(state.weights.size()) * sizeof(float));
  FloatBuffer received(std::min(kMoveElements, layout_.total));
  int kept = 0;
  absl::Status status;
  for (FloatBuffer* moments : {&state.first_moment, &state.second_moment}) {
    const bool is_kept = kept++ < moments_;  // Else zeros, which all have.
    for (const StateShard& shard : shards_) {
      ForParts(shard.range, [&](const ElementRange& part) {
        if (!status.ok()) return;
        float* values = is_kept && shard.first != rank_ ? received.data() : moments->data() + part.begin;
        if (is_kept) status = communicator.Broadcast(values, Bytes(part), shard.first).Wait();
        hasher.Update(values, Bytes(part));
      });
    }
  }
  if (!status.ok()) return status;
  hasher.Update(&state.scalars.cursor, sizeof(state.scalars.cursor));
  return hasher.Hex();
}

}  // namespace rekindle::train
