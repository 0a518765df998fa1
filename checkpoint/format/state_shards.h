// Cuts the flat training state into shards. planes.h describes the bytes of a shard. The functions are pure, torch-free
// and thread-safe.
#ifndef REKINDLE_CHECKPOINT_FORMAT_STATE_SHARDS_H_
#define REKINDLE_CHECKPOINT_FORMAT_STATE_SHARDS_H_

#include <cstdint>
#include <vector>

namespace rekindle::checkpoint {

// Shards are cut at multiples of `kBlockElements` elements. The blocks over which the gradient norm is summed are cut
// there as well.
inline constexpr int64_t kBlockElements = 64 * 1024;
// Each element of a shard takes at most 14 bytes in one file (a plane 1 with nothing but exceptions). So a file with
// its header stays under 64 MiB.
inline constexpr int64_t kMaxShardElements = 64 * kBlockElements;
// Shards have at most `kShardElements` elements, unless there would be too many shards. A plane is then less than 10
// MiB, which a bucket accepts in one request, so that no crash leaves parts of it behind.
inline constexpr int64_t kShardElements = 24 * kBlockElements;
inline constexpr int64_t kManyShards = 4096;
inline constexpr int64_t kMaxStateElements = int64_t{1} << 48;

// Describes the elements [begin, end) of the flat state, which rank `owner` writes.
struct ShardRange {
  int64_t begin = 0;
  int64_t end = 0;
  int index = 0;
  int count = 0;
  int owner = 0;

  bool operator==(const ShardRange&) const = default;
};

// Describes the elements [begin, end) of the flat state.
struct ElementRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  bool operator==(const ElementRange&) const = default;
};

// Points to the flat arrays of a training state of `total` elements, which it does not own. The arrays begin with
// element `origin` and need not have all elements behind it. A moment that is null counts as zeros.
struct StateView {
  const float* weights = nullptr;
  const float* first_moment = nullptr;
  const float* second_moment = nullptr;
  int64_t total = 0;
  int64_t origin = 0;
};
// Points to flat arrays like a StateView. The weights are there from the first element to the last. The moments begin
// with element `moments_origin`, and what would be read into a moment that is null is dropped.
struct MutableState {
  float* weights = nullptr;
  float* first_moment = nullptr;
  float* second_moment = nullptr;
  int64_t total = 0;
  // `moments` lists the ranges of the moments that are wanted, in order and disjoint. Null means all.
  const std::vector<ElementRange>* moments = nullptr;
  int64_t moments_origin = 0;
};

// Cuts the state into balanced shards over `ranks` ranks, in index order. The shards of one rank are consecutive. A
// rank has several shards if one would exceed kShardElements, and none if there are fewer blocks than ranks. REQUIRES:
// total >= 1 and ranks >= 1.
std::vector<ShardRange> CutShards(int64_t total, int ranks);
// Returns whether the range is not empty and inside a state of `total` elements, and whether `total` is a possible
// size.
bool IsInside(const ShardRange& range, int64_t total);
// Returns the shards that `rank` writes.
std::vector<ShardRange> ShardsOf(const std::vector<ShardRange>& shards, int rank);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_FORMAT_STATE_SHARDS_H_
