// Helps tests to make the plane files of a range of a state.
#ifndef REKINDLE_CHECKPOINT_TESTING_PLANES_TESTING_H_
#define REKINDLE_CHECKPOINT_TESTING_PLANES_TESTING_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "checkpoint/format/planes.h"
#include "checkpoint/testing/testing.h"

namespace rekindle::checkpoint {

struct PlaneFiles {
  std::vector<uint8_t> plane0, plane1;
  WrittenPlanes written;
};

// Writes the planes of a range into buffers with room for the largest number of exceptions, and then truncates them to
// the bytes that were written.
inline PlaneFiles WriteFiles(const TestState& state, const ShardRange& range, Precision precision) {
  PlaneFiles files;
  const PlaneBytes most = SizeOfPlanes(state.view().total, range, precision, range.end - range.begin);
  files.plane0.resize(static_cast<size_t>(most.plane0), 0xee);
  files.plane1.resize(static_cast<size_t>(most.plane1), 0xee);
  const auto written = WritePlanes(state.view(), range, precision, files.plane0, files.plane1);
  EXPECT_TRUE(written.ok()) << written.status();
  if (!written.ok()) return files;
  files.written = *written;
  files.plane0.resize(static_cast<size_t>(written->plane0.bytes));
  files.plane1.resize(static_cast<size_t>(written->plane1.bytes));
  return files;
}

// Returns a state as it is in training: finite values, moments that span many magnitudes, and a few weights that are
// exceptions (planes.h).
inline TestState Trained(int64_t total, uint64_t seed) {
  TestState state(total);
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  for (size_t i = 0; i < static_cast<size_t>(total); ++i) {
    state.weights[i] = 0.02f * normal(random);
    state.first_moment[i] = 1e-4f * normal(random);
    state.second_moment[i] = std::exp2(-30 + 5 * normal(random));
    if (random() % 400 == 0) state.weights[i] = 1e-20f * normal(random);
  }
  return state;
}

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_TESTING_PLANES_TESTING_H_
