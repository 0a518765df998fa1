// Helps tests of checkpoints: makes states with known content, and saves and restores them through a Store.
#ifndef REKINDLE_CHECKPOINT_TESTING_TESTING_H_
#define REKINDLE_CHECKPOINT_TESTING_TESTING_H_

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/format/planes.h"
#include "checkpoint/format/state_shards.h"
#include "checkpoint/store/store.h"

namespace rekindle::checkpoint {

// The thread sanitizer makes everything 20 times slower. Under it, tests that start no thread try fewer cases.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kThinned = true;
#else
inline constexpr bool kThinned = false;
#endif

struct TestState {
  std::vector<float> weights, first_moment, second_moment;

  explicit TestState(int64_t total) : weights(total), first_moment(total), second_moment(total) {}
  // Returns a state of random 32-bit patterns, including NaN and infinity.
  static TestState Random(int64_t total, uint64_t seed) {
    TestState state(total);
    std::mt19937_64 random(seed);
    for (auto* tensor : {&state.weights, &state.first_moment, &state.second_moment}) {
      for (float& value : *tensor) {
        const auto bits = static_cast<uint32_t>(random());
        std::memcpy(&value, &bits, sizeof(value));
      }
    }
    return state;
  }
  StateView view() const {
    return {weights.data(), first_moment.data(), second_moment.data(), static_cast<int64_t>(weights.size())};
  }
  MutableState writable() {
    return {weights.data(), first_moment.data(), second_moment.data(), static_cast<int64_t>(weights.size())};
  }
  // Compares two states bit for bit.
  bool operator==(const TestState& other) const {
    const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
      return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
    };
    return same(weights, other.weights) && same(first_moment, other.first_moment) &&
           same(second_moment, other.second_moment);
  }
};

inline ShardContent ContentOf(std::vector<uint8_t> bytes) {
  return [bytes = std::move(bytes)] { return std::span<const uint8_t>(bytes); };
}

// Cuts `total` elements into `count` shards as small as a test needs, because CutShards cuts only at 64 Ki elements.
inline std::vector<ShardRange> SmallShards(int64_t total, int count) {
  std::vector<ShardRange> shards;
  for (int i = 0; i < count; ++i) {
    shards.push_back({.begin = total * i / count, .end = total * (i + 1) / count, .index = i, .count = count});
  }
  return shards;
}

// Writes all shards of a checkpoint and returns the manifest that would commit them.
inline absl::StatusOr<Manifest> PutShards(Store& store, const std::string& job, int generation, int step,
                                          const TestState& state, int shards, Precision precision = Precision::kExact) {
  Manifest manifest{.job_uid = job, .generation = generation, .step = step, .writer = "w0", .scalars = "{}"};
  const int64_t total = state.view().total;
  for (const ShardRange& range : SmallShards(total, shards)) {
    const PlaneBytes room = SizeOfPlanes(total, range, precision, range.end - range.begin);
    std::vector<uint8_t> planes[] = {std::vector<uint8_t>(static_cast<size_t>(room.plane0)),
                                     std::vector<uint8_t>(static_cast<size_t>(room.plane1))};
    const auto written = WritePlanes(state.view(), range, precision, planes[0], planes[1]);
    if (!written.ok()) return written.status();
    for (int plane = 0; plane < PlanesOf(precision); ++plane) {
      const WrittenPlane& one = written->at(plane);
      planes[plane].resize(static_cast<size_t>(one.bytes));
      auto ref = store.PutShard(job, ContentOf(std::move(planes[plane])), one.bytes, one.xxh3);
      if (!ref.ok()) return ref.status();
      ref->generation = generation;
      ref->index = range.index;
      ref->count = range.count;
      ref->plane = plane;
      manifest.shards.push_back(*ref);
    }
  }
  return manifest;
}

inline absl::StatusOr<std::string> Save(Store& store, const std::string& job, int generation, int step,
                                        const TestState& state, int shards = 2) {
  const auto manifest = PutShards(store, job, generation, step, state, shards);
  if (!manifest.ok()) return manifest.status();
  return store.PutManifest(*manifest);
}

inline absl::StatusOr<TestState> Load(Store& store, const Manifest& manifest, int64_t total) {
  TestState state(total);
  std::vector<uint8_t> planes[2];
  for (const ShardRef& ref : manifest.shards) {
    absl::Status status = store.ReadShard(manifest.job_uid, ref, &planes[ref.plane]);
    if (status.ok() && ref.plane == 1) status = ReadPlanes(planes[0], planes[1], state.writable()).status();
    if (!status.ok()) return status;
  }
  return state;
}

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_TESTING_TESTING_H_
