#include "worker/train/state/prepared_step.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/check/check.h"
#include "common/digest/hash.h"
#include "worker/train/state/state_transfer.h"

namespace rekindle::train {
namespace {

// A broadcast carries `kPieceElements` new weights, so many that its latency does not count.
constexpr int64_t kPieceElements = 256 * 1024;
// `kChunkElements` elements are updated out of place at a time, so that they stay in the cache.
constexpr int64_t kChunkElements = 16 * 1024;
constexpr char kExists[] = "a step is applied after it was prepared";

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

PreparedStep::PreparedStep(const ParameterLayout& layout, int moments, Reporter& reporter)
    : layout_(layout), moments_(moments), reporter_(reporter), trained_(TrainedElements(layout)) {}

void PreparedStep::Fit(const ShardDeal& deal, int world_size) {
  int64_t largest = 0, outgoing = 0;
  for (const StateShard& shard : deal.shards) {
    // A rank that is alone sends its new weights to nobody, so it needs no memory for sending.
    if (world_size == 1) break;
    largest = std::max(largest, shard.range.size());
    if (shard.first == deal.rank) outgoing = shard.range.size();
  }
  const int64_t sink = std::min(kPieceElements, largest);
  if (outgoing_.size() != outgoing) outgoing_ = FloatBuffer(outgoing);
  if (sink_.size() != sink) sink_ = FloatBuffer(sink);
}

int64_t PreparedStep::bytes() const { return static_cast<int64_t>(sizeof(float)) * (outgoing_.size() + sink_.size()); }

ElementRange PreparedStep::TrainedPart(const StateShard& shard) const {
  return {std::min(shard.range.begin, trained_), std::min(shard.range.end, trained_)};
}

float* PreparedStep::Incoming(const StateShard& shard, int64_t element) const {
  return static_cast<float*>(pending_->reduced->At(shard.range.begin)) + (element - shard.range.begin);
}

void PreparedStep::MakeNew(const TrainState& state, const ElementRange& range, const FlatState& out) const {
  common::Check(exists(), kExists);
  const auto copy = [&](const FloatBuffer& from, float* to, int moment) {
    if (moment <= moments_) std::copy_n(from.data() + range.begin, range.size(), to + (range.begin - out.origin));
  };
  copy(state.weights, out.weights, 0);
  copy(state.first_moment, out.first_moment, 1);
  copy(state.second_moment, out.second_moment, 2);
  if (pending_->update) UpdateElements(layout_, *pending_->update, range.begin, range.end, out);
}

absl::Status PreparedStep::Prepare(const ShardDeal& deal, std::optional<PlannedUpdate> update, GradientBuffer* reduced,
                                   comm::Communicator& communicator, const TrainState& state) {
  pending_ = {.update = std::move(update), .reduced = reduced, .hashes = {}};
  std::vector<comm::Work> works;
  const bool sends = pending_->update && communicator.world_size() > 1;
  absl::Status status = sends ? IssueAll(deal, communicator, state, &works) : absl::OkStatus();
  const uint64_t hash = sends ? HashOfOutgoing(deal) : 0;
  // A rank that gets the hashes of all ranks may apply the step. Each rank sends its hash only after it has reported,
  // by Reporter::Prepare(), that it can apply its part. So one surviving holder of each shard is enough to complete the
  // step on all ranks.
  const bool prepared = status.ok() && reporter_.Prepare();
  if (!prepared) {
    if (status.ok()) status = absl::AbortedError("interrupted before the step was prepared");
    // The prepared step (`pending_`) is dropped only when the communicator is aborted and its operations have ended,
    // because they use the step's memory.
    communicator.Abort(status);
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

// Issues the broadcasts of the new weights of all shards, a piece of each in turn, so that all first holders send at
// the same time. The call is collective.
absl::Status PreparedStep::IssueAll(const ShardDeal& deal, comm::Communicator& communicator, const TrainState& state,
                                    std::vector<comm::Work>* works) {
  int64_t largest = 0;
  for (const StateShard& shard : deal.shards) largest = std::max(largest, TrainedPart(shard).size());
  absl::Status status;
  for (int64_t at = 0; status.ok() && at < largest; at += kPieceElements) {
    for (const StateShard& shard : deal.shards) {
      const ElementRange part = TrainedPart(shard);
      const ElementRange piece{part.begin + at, std::min(part.end, part.begin + at + kPieceElements)};
      if (piece.begin < piece.end) status.Update(IssuePiece(deal, shard, piece, communicator, state, works));
    }
  }
  return status;
}

// Issues the broadcast of a piece of a shard's new weights from its first holder to all ranks. The call is collective.
absl::Status PreparedStep::IssuePiece(const ShardDeal& deal, const StateShard& shard, const ElementRange& piece,
                                      comm::Communicator& communicator, const TrainState& state,
                                      std::vector<comm::Work>* works) {
  // The second holder of the shard computes the new weights itself and discards the piece.
  float* buffer = sink_.data();
  if (shard.first == deal.rank) {
    buffer = outgoing_.data() + (piece.begin - shard.range.begin);
    std::vector<float> first(kChunkElements), second(kChunkElements);
    for (const ElementRange& chunk : PartsOf(piece, kChunkElements)) {
      MakeNew(state, chunk, {buffer + (chunk.begin - piece.begin), first.data(), second.data(), chunk.begin});
    }
  } else if (!deal.Holds(shard)) {
    buffer = Incoming(shard, piece.begin);
  }
  works->push_back(communicator.Broadcast(buffer, static_cast<size_t>(piece.size()) * sizeof(float), shard.first));
  return communicator.status();
}

// Returns the hash of the new weights that this rank sends, or 0 if it is the first holder of no shard.
uint64_t PreparedStep::HashOfOutgoing(const ShardDeal& deal) const {
  uint64_t hash = 0;
  for (const StateShard& shard : deal.shards) {
    if (shard.first == deal.rank) hash = HashOf(outgoing_.data(), TrainedPart(shard).size());
  }
  return hash;
}

void PreparedStep::UpdateHeld(const ElementSet& held, TrainState& state) const {
  common::Check(exists(), kExists);
  if (!pending_->update) return;
  for (const ElementRange& range : held) {
    UpdateElements(layout_, *pending_->update, range.begin, range.end, FlatStateOf(state));
  }
}

absl::Status PreparedStep::Apply(const ShardDeal& deal, const ElementSet& held, TrainState& state) {
  common::Check(exists(), kExists);
  UpdateHeld(held, state);
  for (size_t i = 0; pending_->update && i < deal.shards.size(); ++i) {
    const StateShard& shard = deal.shards[i];
    const ElementRange part = TrainedPart(shard);
    float* weights = state.weights.data() + part.begin;
    if (!deal.Holds(shard)) {
      std::copy_n(Incoming(shard, part.begin), part.size(), weights);
    } else if (shard.first != deal.rank &&
               HashOf(weights, part.size()) != pending_->hashes[static_cast<size_t>(shard.first)]) {
      return absl::InternalError("step " + std::to_string(pending_->update->step) + ": ranks " +
                                 std::to_string(shard.first) + " and " + std::to_string(deal.rank) +
                                 " computed different weights of optimizer shard " + std::to_string(i) +
                                 "; one of their machines computes wrongly");
    }
  }
  pending_.reset();
  return absl::OkStatus();
}

}  // namespace rekindle::train
