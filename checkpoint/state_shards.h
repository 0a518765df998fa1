// How the flat training state is cut into shards, and a shard's bytes in format 1: a safetensors file with the F32
// tensors "weights", "first_moment" and "second_moment" of one range of elements. planes.h has format 2.
//
// A shard holds neither step nor generation: equal content has an equal name, so a repeated upload finds it there
// (the manifest says to which step it belongs). Pure functions, torch-free; thread-safe.
#ifndef REKINDLE_CHECKPOINT_STATE_SHARDS_H_
#define REKINDLE_CHECKPOINT_STATE_SHARDS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::checkpoint {

// Shards are cut at multiples of it; so are the blocks of the gradient norm.
inline constexpr int64_t kBlockElements = 64 * 1024;
// At most 14 bytes each in one file (plane 1 with nothing but exceptions) and a header: under 64 MiB.
inline constexpr int64_t kMaxShardElements = 64 * kBlockElements;
inline constexpr int64_t kMaxStateElements = int64_t{1} << 48;

// Elements [begin, end) of the flat state, written by rank `owner`.
struct ShardRange {
  int64_t begin = 0;
  int64_t end = 0;
  int index = 0;
  int count = 0;
  int owner = 0;

  bool operator==(const ShardRange&) const = default;
};

// The flat arrays, `total` floats each. Not owned.
struct StateView {
  const float* weights = nullptr;
  const float* first_moment = nullptr;
  const float* second_moment = nullptr;
  int64_t total = 0;
};
struct MutableState {
  float* weights = nullptr;
  float* first_moment = nullptr;
  float* second_moment = nullptr;
  int64_t total = 0;
};

// Balanced shards over `ranks`, in index order; a rank's own are consecutive. A rank has several where one would
// exceed kMaxShardElements, and none where there are fewer blocks than ranks.
// Precondition: total >= 1, ranks >= 1.
std::vector<ShardRange> CutShards(int64_t total, int ranks);
// Not empty, and inside a state of `total` elements, which is of a possible size.
bool IsInside(const ShardRange& range, int64_t total);
// Those of `rank`.
std::vector<ShardRange> ShardsOf(const std::vector<ShardRange>& shards, int rank);

// Size of the file that WriteShard makes.
int64_t ShardBytes(int64_t total, const ShardRange& range);
// Fills `out`, which has exactly ShardBytes, in one pass of copy and hash. Returns the XXH3-128 of it, in hex.
// INVALID_ARGUMENT for a range outside of the state or a wrong size.
absl::StatusOr<std::string> WriteShard(const StateView& state, const ShardRange& range, std::span<uint8_t> out);
// Copies a shard's elements to their range in `state` and returns that range (index, count and owner are 0).
// Any number of writers: a reader reads all shards. Nothing is written unless the whole shard is well-formed and of
// a state of the same total: INVALID_ARGUMENT otherwise.
absl::StatusOr<ShardRange> ReadShard(std::span<const uint8_t> shard, const MutableState& state);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_STATE_SHARDS_H_
