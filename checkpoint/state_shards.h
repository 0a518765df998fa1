// How the flat training state is cut into shards; planes.h has a shard's bytes. Pure functions, torch-free;
// thread-safe.
#ifndef REKINDLE_CHECKPOINT_STATE_SHARDS_H_
#define REKINDLE_CHECKPOINT_STATE_SHARDS_H_

#include <cstdint>
#include <vector>

namespace rekindle::checkpoint {

// Shards are cut at multiples of it; so are the blocks of the gradient norm.
inline constexpr int64_t kBlockElements = 64 * 1024;
// At most 14 bytes each in one file (plane 1 with nothing but exceptions) and a header: under 64 MiB.
inline constexpr int64_t kMaxShardElements = 64 * kBlockElements;
// What they are cut to, unless there would be too many: a plane is then less than 10 MiB, which a bucket takes in one
// request, so that no crash leaves parts of it behind.
inline constexpr int64_t kShardElements = 24 * kBlockElements;
inline constexpr int64_t kManyShards = 4096;
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

// Elements [begin, end) of the flat state.
struct ElementRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  bool operator==(const ElementRange&) const = default;
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
  const std::vector<ElementRange>* moments = nullptr;  // Which are wanted: in order, disjoint. Null: all.
};

// Balanced shards over `ranks`, in index order; a rank's own are consecutive. A rank has several where one would
// exceed kShardElements, and none where there are fewer blocks than ranks.
// Precondition: total >= 1, ranks >= 1.
std::vector<ShardRange> CutShards(int64_t total, int ranks);
// Not empty, and inside a state of `total` elements, which is of a possible size.
bool IsInside(const ShardRange& range, int64_t total);
// Those of `rank`.
std::vector<ShardRange> ShardsOf(const std::vector<ShardRange>& shards, int rank);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_STATE_SHARDS_H_
