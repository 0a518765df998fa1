#include "worker/device/testing/pipeline_testing.h"

#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

namespace rekindle::device {
namespace {

constexpr int64_t kElements = 3000;
constexpr int kBuckets = 2;
constexpr int kMicroBatches = 2;
constexpr int64_t kBytes = kElements * static_cast<int64_t>(sizeof(float));
constexpr int64_t kBucketElements = kElements / kBuckets;
constexpr int64_t kBucketBytes = kBytes / kBuckets;

struct Pipeline {
  explicit Pipeline(Device& d) : device(d) {}

  absl::Status Allocate() {
    const std::pair<Memory*, const char*> all[] = {
        {&weights, "weights"}, {&sums, "sums"}, {&reduced, "the reduced gradient"}, {&scratch, "scratch"}};
    for (const auto& [memory, purpose] : all) {
      absl::StatusOr<Memory> made = device.Allocate(kBytes, purpose);
      if (!made.ok()) return made.status();
      *memory = *std::move(made);
    }
    for (const auto& [memory, purpose] : {std::pair{&input, "the input"}, std::pair{&output, "the output"}}) {
      absl::StatusOr<PinnedMemory> made = device.AllocatePinned(kBytes, purpose);
      if (!made.ok()) return made.status();
      *memory = *std::move(made);
    }
    device.Run(Queue::kCompute, Zero(weights.all()));
    return absl::OkStatus();
  }

  // Adds a micro-batch, whose gradient depends on the weights and on an input of the host, to the sums of a bucket.
  Operation Accumulate(int bucket, bool first) {
    const Range part = sums.Part(bucket * kBucketBytes, kBucketBytes);
    return {
        .name = "accumulate",
        .reads = {input.Part(bucket * kBucketBytes, kBucketBytes), weights.Part(bucket * kBucketBytes, kBucketBytes)},
        .writes = {part},
        .run = [first](const Addresses& at) {
          for (int64_t i = 0; i < kBucketElements; ++i) {
            const float gradient = at.Read<float>(0)[i] - 0.5f * at.Read<float>(1)[i];
            at.Write<float>(0)[i] = first ? gradient : at.Write<float>(0)[i] + gradient;
          }
          return absl::OkStatus();
        }};
  }

  Operation Exchange(int bucket) {
    return {.name = "exchange",
            .reads = {sums.Part(bucket * kBucketBytes, kBucketBytes)},
            .writes = {reduced.Part(bucket * kBucketBytes, kBucketBytes)},
            .run = [](const Addresses& at) {
              for (int64_t i = 0; i < kBucketElements; ++i) at.Write<float>(0)[i] = 2 * at.Read<float>(0)[i];
              return absl::OkStatus();
            }};
  }

  Operation Update() {
    return {.name = "update", .reads = {reduced.all()}, .writes = {weights.all()}, .run = [](const Addresses& at) {
              for (int64_t i = 0; i < kElements; ++i) at.Write<float>(0)[i] += 0.125f * at.Read<float>(0)[i];
              return absl::OkStatus();
            }};
  }

  // Writes the input of a micro-batch once the device has read the one before.
  absl::Status WriteInput(int step, int micro_batch) {
    if (input_read) {
      if (absl::Status read = device.Await(*input_read, nullptr); !read.ok()) return read;
    }
    const auto bytes = input.ForWriting(0, kBytes);
    for (int64_t i = 0; i < kElements; ++i) {
      const auto value = static_cast<float>((step * 31 + micro_batch * 7 + i) % 17);
      std::memcpy(&bytes[static_cast<size_t>(i) * sizeof(float)], &value, sizeof value);
    }
    return absl::OkStatus();
  }

  // Reads the last snapshot once it has arrived.
  absl::Status ReadOutput() {
    if (!output_written) return absl::OkStatus();
    if (absl::Status written = device.Await(*output_written, nullptr); !written.ok()) return written;
    const auto bytes = output.ForReading(0, kBytes);
    const size_t before = snapshots.size();
    snapshots.resize(before + kElements);
    std::memcpy(&snapshots[before], bytes.data(), bytes.size());
    return absl::OkStatus();
  }

  absl::Status Step(int step) {
    for (int micro_batch = 0; micro_batch < kMicroBatches; ++micro_batch) {
      if (absl::Status status = WriteInput(step, micro_batch); !status.ok()) return status;
      for (int bucket = kBuckets - 1; bucket >= 0; --bucket) {
        device.Run(Queue::kCompute, Accumulate(bucket, micro_batch == 0));
        if (micro_batch + 1 < kMicroBatches) continue;
        device.After(Queue::kExchange, device.Record(Queue::kCompute));
        device.Run(Queue::kExchange, Exchange(bucket));
      }
      input_read = device.Record(Queue::kCompute);
    }
    // The gradient must be there, and the snapshot before must have copied the weights, before they change.
    device.After(Queue::kCompute, device.Record(Queue::kExchange));
    if (copied) device.After(Queue::kCompute, *copied);
    device.Run(Queue::kCompute, Update());
    device.After(Queue::kSnapshot, device.Record(Queue::kCompute));
    device.Run(Queue::kSnapshot, Copy(weights.all(), scratch.all()));
    copied = device.Record(Queue::kSnapshot);
    // The host must have read the snapshot before, before this one overwrites it.
    if (absl::Status status = ReadOutput(); !status.ok()) return status;
    device.Run(Queue::kSnapshot, Copy(scratch.all(), output.all()));
    output_written = device.Record(Queue::kSnapshot);
    return absl::OkStatus();
  }

  Device& device;
  Memory weights, sums, reduced, scratch;
  PinnedMemory input, output;
  std::optional<Mark> input_read, copied, output_written;
  std::vector<float> snapshots;
};

}  // namespace

absl::StatusOr<std::vector<float>> PlayPipeline(Device& device, int steps) {
  Pipeline pipeline(device);
  absl::Status status = pipeline.Allocate();
  for (int step = 0; status.ok() && step < steps; ++step) status = pipeline.Step(step);
  if (status.ok()) status = pipeline.ReadOutput();
  if (!status.ok()) return status;
  return std::move(pipeline.snapshots);
}

}  // namespace rekindle::device
