#include "worker/train/step_message.h"

#include "worker/train/little_endian.h"

namespace rekindle::train {
namespace {

constexpr size_t kHeaderBytes = 5 * sizeof(int64_t);  // Step, attempt, flags, committed and checkpoint step.
constexpr int64_t kYield = 1;
constexpr int64_t kYieldWithCheckpoint = 2;
constexpr int64_t kBeginCheckpoint = 4;

void Append(std::vector<uint8_t>* out, std::span<const uint8_t> bytes) {
  out->insert(out->end(), bytes.begin(), bytes.end());
}

}  // namespace

size_t StepMessageLayout::bytes() const {
  return kHeaderBytes + RecordBytes(static_cast<size_t>(parameters)) + RecordBytes(0) +
         static_cast<size_t>(shards) * checkpoint::kShardRecordBytes;
}

std::vector<uint8_t> Encode(const StepMessage& message, const StepMessageLayout& layout) {
  RecordWriter header;
  header.Put<int64_t>(message.step);
  header.Put<int64_t>(message.attempt);
  header.Put<int64_t>((message.yield ? kYield : 0) | (message.yield_with_checkpoint ? kYieldWithCheckpoint : 0) |
                      (message.begin_checkpoint ? kBeginCheckpoint : 0));
  header.Put<int64_t>(message.committed_step);
  header.Put<int64_t>(message.checkpoint_step);
  std::vector<uint8_t> out = header.Take();
  out.reserve(layout.bytes());
  Append(&out, EncodeRecord(message.record));
  Append(&out, EncodeRecord(message.evaluation));
  for (const checkpoint::ShardRef& shard : message.shards) Append(&out, checkpoint::EncodeShardRef(shard));
  out.resize(layout.bytes());  // No shard: zeros.
  return out;
}

absl::StatusOr<StepMessage> Decode(std::span<const uint8_t> bytes, const StepMessageLayout& layout) {
  if (bytes.size() != layout.bytes()) {
    return absl::InvalidArgumentError("step message of " + std::to_string(bytes.size()) + " bytes, expected " +
                                      std::to_string(layout.bytes()));
  }
  StepMessage message;
  int64_t flags = 0;
  RecordReader header(bytes.first(kHeaderBytes));
  header.Get(&message.step);
  header.Get(&message.attempt);
  header.Get(&flags);
  header.Get(&message.committed_step);
  header.Get(&message.checkpoint_step);
  message.yield = (flags & kYield) != 0;
  message.yield_with_checkpoint = (flags & kYieldWithCheckpoint) != 0;
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
