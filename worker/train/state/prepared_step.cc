#include "worker/train/state/prepared_step.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "common/check/check.h"

namespace rekindle::train {
namespace {

// A broadcast carries `kPieceElements` new weights, so many that its latency does not count.
constexpr int64_t kPieceElements = 256 * 1024;
constexpr int64_t kHashBytes = sizeof(uint64_t);
constexpr char kExists[] = "a step is applied after it was prepared";

int64_t TrainedElements(const ParameterLayout& layout) {
  int64_t end = 0;
  for (const ParameterInfo& info : layout.parameters) {
    if (!info.is_buffer()) end = std::max(end, info.offset + info.size);
  }
  return end;
}

}  // namespace

PreparedStep::PreparedStep(device::Device& device, const ParameterLayout& layout, Reporter& reporter)
    : device_(device), layout_(layout), reporter_(reporter), trained_(TrainedElements(layout)) {}

absl::Status PreparedStep::Fit(const ShardDeal& deal, int world_size) {
  int64_t largest = 0, outgoing = 0;
  for (const StateShard& shard : deal.shards) {
    // A rank that is alone sends its new weights to nobody, so it needs no memory for sending.
    if (world_size == 1) break;
    largest = std::max(largest, shard.range.size());
    if (shard.first == deal.rank) outgoing = shard.range.size();
  }
  return Fit(outgoing, largest);
}

absl::Status PreparedStep::Reserve() {
  if (device_.IsHost()) return absl::OkStatus();
  // The largest shard is that of two ranks.
  int64_t largest = 0;
  for (const StateShard& shard : CutState(layout_.total, {{0, 1}, {1, 0}})) {
    largest = std::max(largest, shard.range.size());
  }
  return Fit(largest, largest);
}

absl::Status PreparedStep::Fit(int64_t outgoing, int64_t largest) {
  const auto fit = [&](int64_t size, FloatBuffer* buffer) -> absl::Status {
    if (device_.IsHost() ? buffer->size() == size : buffer->size() >= size) return absl::OkStatus();
    // The old memory is freed before the new memory is taken.
    *buffer = {};
    absl::StatusOr<FloatBuffer> made = FloatBuffer::Zeros(device_, size, "new weights on their way");
    if (!made.ok()) return made.status();
    *buffer = *std::move(made);
    return absl::OkStatus();
  };
  if (hash_.bytes() == 0) {
    constexpr char kPurpose[] = "the hash of new weights";
    absl::StatusOr<device::Memory> hash = device_.Allocate(kHashBytes, kPurpose);
    if (!hash.ok()) return hash.status();
    absl::StatusOr<device::PinnedMemory> on_host = device_.AllocatePinned(kHashBytes, kPurpose);
    if (!on_host.ok()) return on_host.status();
    hash_ = *std::move(hash);
    hash_on_host_ = *std::move(on_host);
  }
  if (absl::Status status = fit(outgoing, &outgoing_); !status.ok()) return status;
  return fit(std::min(kPieceElements, largest), &sink_);
}

ElementRange PreparedStep::TrainedPart(const StateShard& shard) const {
  return {std::min(shard.range.begin, trained_), std::min(shard.range.end, trained_)};
}

device::Range PreparedStep::Incoming(const StateShard& shard, const ElementRange& range) const {
  const device::Range gradient = pending_->reduced->Part(shard.range.begin, shard.range.size());
  constexpr auto kElement = static_cast<int64_t>(sizeof(float));
  return gradient.Part((range.begin - shard.range.begin) * kElement, range.size() * kElement);
}

device::Operation PreparedStep::NewValuesOf(const TrainState& state, const ElementRange& range,
                                            const NewValues& out) const {
  common::Check(exists(), kExists);
  return UpdatedCopyOf(layout_, pending_->update, range, state, out);
}

absl::Status PreparedStep::Prepare(const ShardDeal& deal, std::optional<PlannedUpdate> update,
                                   const GradientBuffer* reduced, device::Exchange& exchange, const TrainState& state) {
  pending_ = {.update = std::move(update), .reduced = reduced, .hashes = {}};
  comm::Communicator& communicator = exchange.communicator();
  const bool sends = pending_->update && communicator.world_size() > 1;
  absl::Status status = sends ? IssueAll(deal, exchange, state) : absl::OkStatus();
  absl::StatusOr<uint64_t> hash = 0;
  if (status.ok() && sends) hash = HashOfOutgoing(deal);
  status.Update(hash.status());
  // A rank that gets the hashes of all ranks may apply the step. Each rank sends its hash only after it has reported,
  // by Reporter::Prepare(), that it can apply its part. So one surviving holder of each shard is enough to complete the
  // step on all ranks.
  const bool prepared = status.ok() && reporter_.Prepare();
  if (!prepared) {
    if (status.ok()) status = absl::AbortedError("interrupted before the step was prepared");
    // The prepared step (`pending_`) is dropped only when the communicator is aborted and its operations have ended,
    // because they use the step's memory.
    communicator.Abort(status);
    (void)exchange.WaitAll();
    pending_.reset();
    return status;
  }
  std::vector<uint64_t> hashes(static_cast<size_t>(communicator.world_size()));
  exchange.AllGather(&*hash, hashes.data(), sizeof(*hash));
  status = exchange.WaitAll();
  pending_->hashes = std::move(hashes);
  return status;
}

// Issues the broadcasts of the new weights of all shards, a piece of each in turn, so that all first holders send at
// the same time. The call is collective.
absl::Status PreparedStep::IssueAll(const ShardDeal& deal, device::Exchange& exchange, const TrainState& state) {
  int64_t largest = 0;
  for (const StateShard& shard : deal.shards) largest = std::max(largest, TrainedPart(shard).size());
  absl::Status status;
  for (int64_t at = 0; status.ok() && at < largest; at += kPieceElements) {
    for (const StateShard& shard : deal.shards) {
      const ElementRange part = TrainedPart(shard);
      const ElementRange piece{part.begin + at, std::min(part.end, part.begin + at + kPieceElements)};
      if (piece.begin < piece.end) IssuePiece(deal, shard, piece, exchange, state);
    }
    status = exchange.communicator().status();
  }
  return status;
}

// Issues the broadcast of a piece of a shard's new weights from its first holder to all ranks. The call is collective.
void PreparedStep::IssuePiece(const ShardDeal& deal, const StateShard& shard, const ElementRange& piece,
                              device::Exchange& exchange, const TrainState& state) {
  // The second holder of the shard computes the new weights itself and discards the piece.
  device::Range buffer = sink_.Part(0, piece.size());
  if (shard.first == deal.rank) {
    buffer = outgoing_.Part(piece.begin - shard.range.begin, piece.size());
    device_.Run(device::Queue::kCompute, NewValuesOf(state, piece, {.weights = buffer}));
  } else if (!deal.Holds(shard)) {
    buffer = Incoming(shard, piece);
  }
  exchange.Broadcast(buffer, shard.first);
}

absl::StatusOr<uint64_t> PreparedStep::HashOf(const device::Range& floats) {
  device_.Run(device::Queue::kCompute, device::Zero(hash_.all()));
  device_.Run(device::Queue::kCompute, {.name = "hash",
                                        .reads = {floats},
                                        .writes = {hash_.all()},
                                        .launch = [n = static_cast<size_t>(floats.bytes) / sizeof(uint32_t)](
                                                      const device::Addresses& at, const device::Launch& on) {
                                          return on(
                                              &RekindleKernels::hash,
                                              {.words = at.Read<uint32_t>(0), .n = n, .hash = at.Write<uint64_t>(0)});
                                        }});
  absl::Status status = RunAndAwait(device_, device::Queue::kCompute, Copy(hash_.all(), hash_on_host_.all()));
  if (!status.ok()) return status;
  uint64_t hash = 0;
  std::memcpy(&hash, hash_on_host_.ForReading(0, kHashBytes).data(), sizeof hash);
  return hash;
}

// Returns the hash of the new weights that this rank sends, or 0 if it is the first holder of no shard.
absl::StatusOr<uint64_t> PreparedStep::HashOfOutgoing(const ShardDeal& deal) {
  for (const StateShard& shard : deal.shards) {
    if (shard.first == deal.rank) return HashOf(outgoing_.Part(0, TrainedPart(shard).size()));
  }
  return uint64_t{0};
}

void PreparedStep::UpdateHeld(const ElementSet& held, TrainState& state) const {
  common::Check(exists(), kExists);
  if (!pending_->update) return;
  for (const ElementRange& range : held) {
    device_.Run(device::Queue::kCompute, UpdateOf(layout_, *pending_->update, range, state));
  }
}

absl::Status PreparedStep::Apply(const ShardDeal& deal, const ElementSet& held, TrainState& state) {
  common::Check(exists(), kExists);
  UpdateHeld(held, state);
  for (size_t i = 0; pending_->update && i < deal.shards.size(); ++i) {
    const StateShard& shard = deal.shards[i];
    const ElementRange part = TrainedPart(shard);
    const device::Range weights = state.weights.Part(part.begin, part.size());
    if (!deal.Holds(shard)) {
      device_.Run(device::Queue::kCompute, Copy(Incoming(shard, part), weights));
      continue;
    }
    if (shard.first == deal.rank) continue;
    const absl::StatusOr<uint64_t> hash = HashOf(weights);
    if (!hash.ok()) return hash.status();
    if (*hash != pending_->hashes[static_cast<size_t>(shard.first)]) {
      return absl::InternalError("step " + std::to_string(state.scalars.step + 1) + ": ranks " +
                                 std::to_string(shard.first) + " and " + std::to_string(deal.rank) +
                                 " computed different weights of optimizer shard " + std::to_string(i) +
                                 "; one of their machines computes wrongly");
    }
  }
  pending_.reset();
  return absl::OkStatus();
}

}  // namespace rekindle::train
