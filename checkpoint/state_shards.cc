#include "checkpoint/state_shards.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/safetensors.h"
#include "common/hash.h"

namespace rekindle::checkpoint {
namespace {

constexpr const char* kTensors[] = {"weights", "first_moment", "second_moment"};

absl::StatusOr<std::string> Header(int64_t total, const ShardRange& range) {
  const std::map<std::string, std::string> metadata = {{"format", "rekindle.state.1"},
                                                       {"begin", absl::StrCat(range.begin)},
                                                       {"end", absl::StrCat(range.end)},
                                                       {"total", absl::StrCat(total)}};
  std::vector<TensorEntry> tensors;
  for (const char* name : kTensors)
    tensors.push_back({.name = name, .dtype = "F32", .shape = {range.end - range.begin}});
  return EncodeSafetensorsHeader(metadata, tensors);
}

absl::StatusOr<int64_t> Number(const SafetensorsHeader& header, const std::string& key) {
  const auto found = header.metadata.find(key);
  int64_t value = 0;
  if (found == header.metadata.end() || !absl::SimpleAtoi(found->second, &value)) {
    return absl::InvalidArgumentError(absl::StrCat("a shard's metadata has no number '", key, "'"));
  }
  return value;
}

}  // namespace

bool IsInside(const ShardRange& range, int64_t total) {
  return total >= 1 && total <= kMaxStateElements && range.begin >= 0 && range.begin < range.end && range.end <= total;
}

std::vector<ShardRange> CutShards(int64_t total, int ranks) {
  const int64_t blocks = (total + kBlockElements - 1) / kBlockElements;
  const int64_t most_blocks = kMaxShardElements / kBlockElements;
  const int64_t needed = (blocks + most_blocks - 1) / most_blocks;
  // The same number for every rank, but never an empty shard.
  const int64_t count = std::min(blocks, (std::max<int64_t>(needed, 1) + ranks - 1) / ranks * ranks);
  std::vector<ShardRange> shards;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = blocks * i / count * kBlockElements;
    const int64_t end = std::min(total, blocks * (i + 1) / count * kBlockElements);
    shards.push_back({.begin = begin,
                      .end = end,
                      .index = static_cast<int>(i),
                      .count = static_cast<int>(count),
                      .owner = static_cast<int>(i * ranks / std::max<int64_t>(count, ranks))});
  }
  return shards;
}

std::vector<ShardRange> ShardsOf(const std::vector<ShardRange>& shards, int rank) {
  std::vector<ShardRange> own;
  std::copy_if(shards.begin(), shards.end(), std::back_inserter(own),
               [&](const ShardRange& shard) { return shard.owner == rank; });
  return own;
}

int64_t ShardBytes(int64_t total, const ShardRange& range) {
  const auto header = Header(total, range);
  return header.ok() ? static_cast<int64_t>(header->size()) + 12 * (range.end - range.begin) : 0;
}

absl::StatusOr<std::string> WriteShard(const StateView& state, const ShardRange& range, std::span<uint8_t> out) {
  if (!IsInside(range, state.total)) {
    return absl::InvalidArgumentError(
        absl::StrCat("shard [", range.begin, ", ", range.end, ") is not inside a state of ", state.total, " elements"));
  }
  const auto header = Header(state.total, range);
  if (!header.ok()) return header.status();
  const size_t bytes = sizeof(float) * static_cast<size_t>(range.end - range.begin);
  if (out.size() != header->size() + 3 * bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a shard of ", header->size() + 3 * bytes, " bytes does not fit a buffer of ", out.size()));
  }
  common::Hasher hasher;
  uint8_t* at = out.data();
  common::CopyAndHash(at, header->data(), header->size(), hasher);
  at += header->size();
  for (const float* tensor : {state.weights, state.first_moment, state.second_moment}) {
    common::CopyAndHash(at, tensor + range.begin, bytes, hasher);
    at += bytes;
  }
  return hasher.Hex();
}

absl::StatusOr<ShardRange> ReadShard(std::span<const uint8_t> shard, const MutableState& state) {
  const auto header = ParseSafetensorsHeader(shard, shard.size());
  if (!header.ok()) return header.status();
  const auto format = header->metadata.find("format");
  if (format == header->metadata.end() || format->second != "rekindle.state.1") {
    return absl::InvalidArgumentError("a shard is not of the format rekindle.state.1");
  }
  const auto begin = Number(*header, "begin");
  const auto end = Number(*header, "end");
  const auto total = Number(*header, "total");
  for (const auto* number : {&begin, &end, &total}) {
    if (!number->ok()) return number->status();
  }
  const ShardRange range{.begin = *begin, .end = *end};
  if (*total != state.total || !IsInside(range, state.total)) {
    return absl::InvalidArgumentError(absl::StrCat("a shard holds [", *begin, ", ", *end, ") of ", *total,
                                                   " elements; this state has ", state.total));
  }
  const uint8_t* sources[3];
  for (int i = 0; i < 3; ++i) {
    const TensorEntry* tensor = header->Find(kTensors[i]);
    if (tensor == nullptr || tensor->dtype != "F32" || tensor->shape != std::vector<int64_t>{*end - *begin}) {
      return absl::InvalidArgumentError(absl::StrCat("a shard has no F32 tensor '", kTensors[i], "' of its range"));
    }
    sources[i] = shard.data() + header->data_offset + tensor->begin;
  }
  float* const targets[3] = {state.weights, state.first_moment, state.second_moment};
  for (int i = 0; i < 3; ++i) std::memcpy(targets[i] + *begin, sources[i], sizeof(float) * (*end - *begin));
  return range;
}

}  // namespace rekindle::checkpoint
