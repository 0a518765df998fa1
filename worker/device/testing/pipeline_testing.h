// A step in small, as a rank takes it on a device: sums on one queue, an exchange behind it on another, an update, and
// copies of the state on a third. Tests play it to see whether a device keeps its contract and finds what is forgotten.
#ifndef REKINDLE_WORKER_DEVICE_TESTING_PIPELINE_TESTING_H_
#define REKINDLE_WORKER_DEVICE_TESTING_PIPELINE_TESTING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/device/contract/device.h"

namespace rekindle::device {

// Plays `steps` steps with two micro-batches and two buckets each, and a snapshot after each step. Returns the weights
// of all snapshots, one after the other, as the host has read them. With two steps or more, each After and Await that
// this function calls is needed.
absl::StatusOr<std::vector<float>> PlayPipeline(Device& device, int steps);

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_TESTING_PIPELINE_TESTING_H_
