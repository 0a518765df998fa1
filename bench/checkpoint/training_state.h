// Makes a state for benches that looks like the result of training, with normal weights and moments that span many
// magnitudes.
#ifndef REKINDLE_BENCH_CHECKPOINT_TRAINING_STATE_H_
#define REKINDLE_BENCH_CHECKPOINT_TRAINING_STATE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>

namespace rekindle::bench {

// Fills the weights and the two moments of a state, which have the same size, as training would leave them. The random
// values repeat, but with a period that does not divide the length of a shard, so that no two shards are equal.
inline void FillAsTrained(std::span<float> weights, std::span<float> first_moment, std::span<float> second_moment) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  const size_t n = weights.size(), period = std::min<size_t>(n, (1 << 20) + 1);
  for (size_t i = 0; i < n; ++i) {
    const bool again = i >= period;
    weights[i] = again ? weights[i - period] : 0.02f * normal(random);
    first_moment[i] = again ? first_moment[i - period] : 1e-4f * normal(random);
    second_moment[i] = again ? second_moment[i - period] : std::exp2(-30 + 5 * normal(random));
  }
}

}  // namespace rekindle::bench

#endif  // REKINDLE_BENCH_CHECKPOINT_TRAINING_STATE_H_
