// Who holds what, and the step.
#include "worker/train/sharded_placement.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/hash.h"
#include "worker/train/state_transfer.h"

namespace rekindle::train {
namespace {

constexpr int64_t kPieceElements = 256 * 1024;  // Of new weights in one broadcast: its latency does not count.
constexpr int64_t kChunkElements = 16 * 1024;   // Updated at a time out of place, in the cache.

int64_t TrainedElements(const ParameterLayout& layout) {
  int64_t end = 0;
  for (const ParameterInfo& info : layout.parameters) {
    if (!info.is_buffer()) end = std::max(end, info.offset + info.size);
  }
  return end;
}

uint64_t HashOf(const float* values, int64_t count) {
  return common::Xxh3_64(values, static_cast<size_t>(count) * sizeof(float));
}

}  // namespace

ShardedPlacement::ShardedPlacement(const ParameterLayout& layout, int moments, Reporter& reporter)
    : layout_(layout), moments_(moments), reporter_(reporter), trained_(TrainedElements(layout)) {}

absl::Status ShardedPlacement::Enter(const Membership& membership, int rank) {
  const auto members = static_cast<int>(membership.members.size());
  std::vector<char> is_first(membership.members.size());
  for (const ShardHolders& one : membership.shards) {
    const bool known = one.first >= 0 && one.first < members && one.second >= 0 && one.second < members;
    if (!known || std::exchange(is_first[static_cast<size_t>(one.first)], 1) != 0) {
      return absl::FailedPreconditionError("the membership deals out the optimizer's shards in no possible way");
    }
  }
  if (membership.shards.empty()) {
    return absl::FailedPreconditionError(
        "the membership says nothing of the optimizer's shards; install the same release on every node");
  }
  rank_ = rank;
  holders_ = membership.shards;
  shards_ = CutState(layout_.total, holders_);
  wanted_ = HeldBy(shards_, rank);
  return absl::OkStatus();
}

void ShardedPlacement::Replaced(bool whole) {
  pending_.reset();
  held_ = whole ? wanted_ : ElementSet();
  reporter_.Hold(ToBlocks(held_), BlocksOf(layout_.total));
}

// What is given back must not be needed any more: the barrier shows that every rank has what it wants, and the report
// must not promise it.
absl::Status ShardedPlacement::Settle(comm::Communicator& communicator, TrainState& state) {
  if (absl::Status status = comm::Barrier(communicator); !status.ok()) return status;
  if (!reporter_.Hold(ToBlocks(wanted_), BlocksOf(layout_.total))) {
    return absl::AbortedError("interrupted before the optimizer's shards were settled");
  }
  pending_.reset();
  held_ = wanted_;
  for (const ElementRange& range : Subtract({{0, layout_.total}}, held_)) {
    for (FloatBuffer* moments : MomentsOf(state)) moments->Release(range.begin, range.end);
  }
  int64_t largest = 0, outgoing = 0;
  for (const StateShard& shard : shards_) {
    if (communicator.world_size() == 1) break;  // Nobody to send to.
    largest = std::max(largest, shard.range.size());
    if (shard.first == rank_) outgoing = shard.range.size();
  }
  const int64_t sink = std::min(kPieceElements, largest);
  if (outgoing_.size() != outgoing) outgoing_ = FloatBuffer(outgoing);
  if (sink_.size() != sink) sink_ = FloatBuffer(sink);
  return absl::OkStatus();
}

ElementRange ShardedPlacement::TrainedPart(const StateShard& shard) const {
  return {std::min(shard.range.begin, trained_), std::min(shard.range.end, trained_)};
}

float* ShardedPlacement::Incoming(const StateShard& shard, int64_t element) const {
  return static_cast<float*>(pending_->reduced->At(shard.range.begin)) + (element - shard.range.begin);
}

std::vector<FloatBuffer*> ShardedPlacement::MomentsOf(TrainState& state) const {
  std::vector<FloatBuffer*> moments{&state.first_moment, &state.second_moment};
  moments.resize(static_cast<size_t>(moments_));
  return moments;
}

// Weights and moments of `range` after the pending update, out of place.
void ShardedPlacement::MakeNew(const TrainState& state, const ElementRange& range, const FlatState& out) const {
  const auto copy = [&](const FloatBuffer& from, float* to, int moment) {
    if (moment <= moments_) std::copy_n(from.data() + range.begin, range.size(), to + (range.begin - out.origin));
  };
  copy(state.weights, out.weights, 0);
  copy(state.first_moment, out.first_moment, 1);
  copy(state.second_moment, out.second_moment, 2);
  if (pending_->update) UpdateElements(layout_, *pending_->update, range.begin, range.end, out);
}

// Collective: a piece of a shard's new weights, from its first holder to all.
absl::Status ShardedPlacement::IssuePiece(const StateShard& shard, const ElementRange& piece,
                                          comm::Communicator& communicator, const TrainState& state,
                                          std::vector<comm::Work>* works) {
  float* buffer = sink_.data();  // The second holder makes its own.
  if (shard.first == rank_) {
    buffer = outgoing_.data() + (piece.begin - shard.range.begin);
    std::vector<float> first(kChunkElements), second(kChunkElements);
    for (int64_t at = piece.begin; at < piece.end; at += kChunkElements) {
      const ElementRange chunk{at, std::min(piece.end, at + kChunkElements)};
      MakeNew(state, chunk, {buffer + (at - piece.begin), first.data(), second.data(), at});
    }
  } else if (!Holds(shard)) {
    buffer = Incoming(shard, piece.begin);
  }
  works->push_back(communicator.Broadcast(buffer, static_cast<size_t>(piece.size()) * sizeof(float), shard.first));
  return communicator.status();
}

absl::Status ShardedPlacement::Prepare(std::optional<PlannedUpdate> update, GradientBuffer* reduced,
                                       comm::Communicator& communicator, const TrainState& state) {
  pending_ = {.update = std::move(update), .reduced = reduced, .hashes = {}};
  std::vector<comm::Work> works;
  absl::Status status;
  uint64_t hash = 0;
  int64_t largest = 0;
  for (const StateShard& shard : shards_) largest = std::max(largest, TrainedPart(shard).size());
  const bool sends = pending_->update && communicator.world_size() > 1;
  for (int64_t at = 0; sends && status.ok() && at < largest; at += kPieceElements) {
    for (const StateShard& shard : shards_) {
      const ElementRange part = TrainedPart(shard);
      const ElementRange piece{part.begin + at, std::min(part.end, part.begin + at + kPieceElements)};
      if (piece.begin < piece.end) status.Update(IssuePiece(shard, piece, communicator, state, &works));
    }
  }
  for (const StateShard& shard : shards_) {
    if (shard.first == rank_ && sends) hash = HashOf(outgoing_.data(), TrainedPart(shard).size());
  }
  // Whoever gets all of these messages may apply the step; then each rank has said here that it can apply its part, and
  // whichever die, one holder of each shard is enough. So no completed step needs two.
  const bool prepared = status.ok() && reporter_.Prepare();
  if (!prepared) {
    if (status.ok()) status = absl::AbortedError("interrupted before the step was prepared");
    communicator.Abort(status);  // Nothing may still write to what is forgotten.
    (void)WaitAll(works);
    pending_.reset();
    return status;
  }
  std::vector<uint64_t> hashes(static_cast<size_t>(communicator.world_size()));
  works.push_back(communicator.AllGather(&hash, hashes.data(), sizeof(hash)));
  status = WaitAll(works);
  pending_->hashes = std::move(hashes);
  return status;
}

void ShardedPlacement::UpdateHeld(TrainState& state) const {
  if (!pending_->update) return;
  for (const ElementRange& range : held_) {
    UpdateElements(layout_, *pending_->update, range.begin, range.end, FlatStateOf(state));
  }
}

absl::Status ShardedPlacement::Apply(TrainState& state) {
  UpdateHeld(state);
  for (size_t i = 0; pending_->update && i < shards_.size(); ++i) {
    const StateShard& shard = shards_[i];
    const ElementRange part = TrainedPart(shard);
    float* weights = state.weights.data() + part.begin;
    if (!Holds(shard)) {
      std::copy_n(Incoming(shard, part.begin), part.size(), weights);
    } else if (shard.first != rank_ &&
               HashOf(weights, part.size()) != pending_->hashes[static_cast<size_t>(shard.first)]) {
      return absl::InternalError("step " + std::to_string(pending_->update->step) + ": ranks " +
                                 std::to_string(shard.first) + " and " + std::to_string(rank_) +
                                 " computed different weights of optimizer shard " + std::to_string(i) +
                                 "; one of their machines computes wrongly");
    }
  }
  pending_.reset();
  return absl::OkStatus();
}

std::vector<checkpoint::ShardRange> ShardedPlacement::Files(int) const { return FilesOf(layout_.total, holders_); }

std::optional<LeverNote> ShardedPlacement::Saved(const TrainState& state) const {
  const int64_t whole = layout_.total * static_cast<int64_t>(sizeof(float)) * moments_;
  int64_t taken = static_cast<int64_t>(sizeof(float)) * (outgoing_.size() + sink_.size());
  for (const FloatBuffer* moments : {&state.first_moment, &state.second_moment}) taken += moments->ResidentBytes();
  const auto mib = [](int64_t bytes) { return std::to_string((bytes + (1 << 19)) >> 20) + " MiB"; };
  return LeverNote{.lever = "sharded_state",
                   .step = state.scalars.step,
                   .text = "the optimizer's state is in " + std::to_string(shards_.size()) + " shards; rank " +
                           std::to_string(rank_) + " spends " + mib(taken) + " of memory on it, whole it would be " +
                           mib(whole),
                   .bytes_saved = static_cast<double>(std::max<int64_t>(0, whole - taken))};
}

}  // namespace rekindle::train
