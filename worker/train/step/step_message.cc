#include "worker/train/step/step_message.h"

#include <cmath>

#include "common/check/check.h"
#include "worker/contract/spec.h"
#include "worker/numeric/little_endian.h"

namespace rekindle::train {
namespace {

// The header holds the step, the attempt, the flags, the committed step, the checkpoint step, and the cost, which is
// the number of micro-batches and five durations.
constexpr size_t kHeaderBytes = 6 * sizeof(int64_t) + 5 * sizeof(double);
constexpr int64_t kYield = 1;
constexpr int64_t kYieldWithCheckpoint = 2;
constexpr int64_t kBeginCheckpoint = 4;
constexpr int64_t kLeaseHolds = 8;

void Put(const StepCost& cost, numeric::RecordWriter* out) {
  out->Put<int64_t>(cost.micro_batches);
  for (const double seconds :
       {cost.data_seconds, cost.compute_seconds, cost.exchange_seconds, cost.blocked_seconds, cost.lost_seconds}) {
    out->Put(seconds);
  }
}

// Reads the cost of a step. Returns false if the values cannot be the measurement of a rank.
bool Get(numeric::RecordReader* in, StepCost* cost) {
  int64_t micro_batches = 0;
  in->Get(&micro_batches);
  bool meant = micro_batches >= 0 && micro_batches <= kMaxMicroBatches;
  cost->micro_batches = meant ? static_cast<int>(micro_batches) : 0;
  for (double* seconds : {&cost->data_seconds, &cost->compute_seconds, &cost->exchange_seconds, &cost->blocked_seconds,
                          &cost->lost_seconds}) {
    in->Get(seconds);
    meant = meant && std::isfinite(*seconds) && *seconds >= 0;
  }
  return meant;
}

void Append(std::vector<uint8_t>* out, std::span<const uint8_t> bytes) {
  out->insert(out->end(), bytes.begin(), bytes.end());
}

}  // namespace

size_t StepMessageLayout::bytes() const {
  return kHeaderBytes + RecordBytes(static_cast<size_t>(parameters)) + RecordBytes(0) +
         static_cast<size_t>(shards) * checkpoint::kShardRecordBytes;
}

std::vector<uint8_t> Encode(const StepMessage& message, const StepMessageLayout& layout) {
  numeric::RecordWriter header;
  header.Put<int64_t>(message.step);
  header.Put<int64_t>(message.attempt);
  header.Put<int64_t>((message.yield ? kYield : 0) | (message.yield_with_checkpoint ? kYieldWithCheckpoint : 0) |
                      (message.begin_checkpoint ? kBeginCheckpoint : 0) | (message.lease_holds ? kLeaseHolds : 0));
  header.Put<int64_t>(message.committed_step);
  header.Put<int64_t>(message.checkpoint_step);
  Put(message.cost, &header);
  std::vector<uint8_t> out = header.Take();
  out.reserve(layout.bytes());
  Append(&out, EncodeRecord(message.record));
  Append(&out, EncodeRecord(message.evaluation));
  for (const checkpoint::ShardRef& shard : message.shards) Append(&out, checkpoint::EncodeShardRef(shard));
  common::Check(out.size() <= layout.bytes(), "a step's message is no longer than its layout");
  // The space of the shards that this rank does not have is filled with zeros.
  out.resize(layout.bytes());
  return out;
}

absl::StatusOr<StepMessage> Decode(std::span<const uint8_t> bytes, const StepMessageLayout& layout) {
  if (bytes.size() != layout.bytes()) {
    return absl::InvalidArgumentError("step message of " + std::to_string(bytes.size()) + " bytes, expected " +
                                      std::to_string(layout.bytes()));
  }
  StepMessage message;
  int64_t flags = 0;
  numeric::RecordReader header(bytes.first(kHeaderBytes));
  header.Get(&message.step);
  header.Get(&message.attempt);
  header.Get(&flags);
  header.Get(&message.committed_step);
  header.Get(&message.checkpoint_step);
  if (!Get(&header, &message.cost)) {
    return absl::InvalidArgumentError("malformed step message: its times are negative or not finite");
  }
  message.yield = (flags & kYield) != 0;
  message.yield_with_checkpoint = (flags & kYieldWithCheckpoint) != 0;
  message.lease_holds = (flags & kLeaseHolds) != 0;
  message.begin_checkpoint = (flags & kBeginCheckpoint) != 0;
  bytes = bytes.subspan(kHeaderBytes);
  const auto parameters = static_cast<size_t>(layout.parameters);
  absl::Status status = DecodeRecord(bytes.first(RecordBytes(parameters)), parameters, &message.record);
  bytes = bytes.subspan(RecordBytes(parameters));
  status.Update(DecodeRecord(bytes.first(RecordBytes(0)), 0, &message.evaluation));
  if (!status.ok()) return status;
  bytes = bytes.subspan(RecordBytes(0));
  for (int i = 0; i < layout.shards; ++i) {
    auto shard = checkpoint::DecodeShardRef(bytes.data() + static_cast<size_t>(i) * checkpoint::kShardRecordBytes);
    if (!shard.ok()) return shard.status();
    if (shard->count > 0) message.shards.push_back(*std::move(shard));
  }
  return message;
}

}  // namespace rekindle::train
