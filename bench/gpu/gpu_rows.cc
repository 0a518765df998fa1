// Measures what a job needs on a device beside speed: repeatable bits, memory, and snapshots that do not hold it up.
#include <algorithm>
#include <cstring>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "bench/gpu/gpu_job.h"
#include "checkpoint/format/planes.h"
#include "common/digest/hash.h"
#include "common/time/clock.h"
#include "worker/device/contract/host_access.h"
#include "worker/models/declared/compute_device.h"
#include "worker/train/arithmetic/median.h"
#include "worker/train/save/plane_scratch.h"

namespace rekindle::gpu {
namespace {

using checkpoint::Precision;
using device::Queue;
using train::GradientAccumulator;

constexpr int kRounds = 9;
constexpr size_t kMoments = 2;

// Returns a hash of the sums of the gradient and of the loss.
absl::StatusOr<std::string> HashOf(const Place& place, const Job& job) {
  common::Hasher hasher;
  const double loss = job.sums->record().MeanLoss();
  hasher.Update(&loss, sizeof loss);
  absl::Status read = ReadOnHost(*place.device, Queue::kCompute, "hash", job.sums->sums().all(),
                                 [&](std::span<const std::byte> part) { hasher.Update(part.data(), part.size()); });
  if (!read.ok()) return read;
  return hasher.Hex();
}

absl::StatusOr<double> BytesPerParameter(const Options& options, const Place& place, GradientAccumulator::Mode mode) {
  const int64_t before = place.device->Allocated().now;
  absl::StatusOr<Job> job = JobOf(place, Gpt2Of(options), mode, 1);
  if (!job.ok()) return job.status();
  // A step also needs the reduced gradient.
  train::GradientBuffer reduced(mode == GradientAccumulator::Mode::kExact);
  const int64_t total = job->model->layout().total;
  if (absl::Status status = reduced.Allocate(*place.device, total, "the reduced gradient"); !status.ok()) return status;
  return static_cast<double>(place.device->Allocated().now - before) / static_cast<double>(total);
}

// Takes snapshots of a job's state on a thread of its own.
class Snapshots {
 public:
  Snapshots(const Place& place, Job& job)
      : place_(place),
        job_(job),
        total_(job.model->layout().total),
        ranges_(checkpoint::ShardsOf(checkpoint::CutShards(total_, 1), 0)),
        scratch_(*place.device) {}
  ~Snapshots() { Join(); }

  absl::Status Fit() { return scratch_.Fit(ranges_, Precision::kExact, kMoments); }
  // Begins a snapshot, once the one before has left the device.
  void Begin() {
    train::PlaneScratch::State state{.ready = place_.device->Record(Queue::kCompute)};
    state.parts = {job_.state.weights.all(), job_.state.first_moment.all(), job_.state.second_moment.all()};
    if (!scratch_.Begin(std::move(state), ranges_, Precision::kExact, 0).ok()) return;
    Join();
    ++taken_;
    thread_ = std::thread([this] {
      Copy();
      scratch_.End();
    });
  }
  void HoldBack() { scratch_.HoldBack(); }
  int taken() const { return taken_; }
  const absl::Status& status() {
    Join();
    return status_;
  }

 private:
  void Join() {
    if (thread_.joinable()) thread_.join();
  }
  void Copy() {
    planes_.resize(ranges_.size());
    for (size_t i = 0; i < ranges_.size() && status_.ok(); ++i) {
      const checkpoint::ShardRange& range = ranges_[i];
      const checkpoint::PlaneBytes room = SizeOfPlanes(total_, range, Precision::kExact, range.end - range.begin);
      planes_[i][0].resize(static_cast<size_t>(room.plane0));
      planes_[i][1].resize(static_cast<size_t>(room.plane1));
      const auto split = scratch_.Next(range);
      status_.Update(split.status());
      if (!split.ok()) return;
      status_.Update(WriteSplitPlanes(*split, total_, range, Precision::kExact, planes_[i][0], planes_[i][1]).status());
    }
  }

  const Place& place_;
  Job& job_;
  const int64_t total_;
  const std::vector<checkpoint::ShardRange> ranges_;
  train::PlaneScratch scratch_;
  int taken_ = 0;
  absl::Status status_;
  std::vector<std::array<std::vector<uint8_t>, 2>> planes_;
  std::thread thread_;
};

}  // namespace

absl::Status CheckRepeats(const Options& options, const Place& place) {
  absl::StatusOr<Job> job = JobOf(place, Gpt2Of(options), GradientAccumulator::Mode::kExact, 1);
  if (!job.ok()) return job.status();
  const train::MicroBatch batch = BatchOf(options);
  std::string first;
  int equal = 0;
  for (int i = 0; i < options.repeats; ++i) {
    if (absl::Status status = ComputeStep(*job, batch, 1); !status.ok()) return status;
    const absl::StatusOr<std::string> hash = HashOf(place, *job);
    if (!hash.ok()) return hash.status();
    if (first.empty()) first = *hash;
    equal += *hash == first ? 1 : 0;
  }
  PrintRow("repeated_micro_batches_equal", equal);
  return absl::OkStatus();
}

absl::Status MeasureMemory(const Options& options, const Place& place) {
  for (const auto& [name, mode] : {std::pair{"bytes_a_parameter", GradientAccumulator::Mode::kFloat32},
                                   {"bytes_a_parameter_exact", GradientAccumulator::Mode::kExact}}) {
    const absl::StatusOr<double> bytes = BytesPerParameter(options, place, mode);
    if (!bytes.ok()) return bytes.status();
    PrintRow(name, *bytes);
  }
  absl::StatusOr<Job> job = JobOf(place, Gpt2Of(options), GradientAccumulator::Mode::kFloat32, 1);
  if (!job.ok()) return job.status();
  const train::MicroBatch batch = Tokens(1, options.context, options.vocabulary);
  const auto in_use = [&] {
    return place.model == models::ComputeDevice::kCuda ? models::MemoryOfGpu().used
                                                       : static_cast<double>(place.device->Allocated().now);
  };
  // The first steps fill the caches of LibTorch.
  constexpr int kFirstSteps = 10;
  double after_first = 0;
  absl::Status status;
  for (int step = 0; step < kFirstSteps + options.steps && status.ok(); ++step) {
    if (step == kFirstSteps) after_first = in_use();
    status = ComputeStep(*job, batch, 1);
    if (status.ok()) status = UpdateWeights(place, *job, options.context);
  }
  if (status.ok()) PrintRow("growth_in_steps", in_use() - after_first);
  return status;
}

absl::Status MeasureSnapshots(const Options& options, const Place& place) {
  absl::StatusOr<Job> job = JobOf(place, Gpt2Of(options), GradientAccumulator::Mode::kFloat32, options.micro_batches);
  if (!job.ok()) return job.status();
  Snapshots snapshots(place, *job);
  if (absl::Status status = snapshots.Fit(); !status.ok()) return status;
  const train::MicroBatch batch = BatchOf(options);
  const int64_t tokens = int64_t{options.sequences} * options.context * options.micro_batches;
  // Steps with and without a snapshot take turns, because other programs may disturb any of them.
  std::vector<double> seconds[2];
  absl::Status status;
  for (int round = 0; round < 2 * kRounds && status.ok(); ++round) {
    const bool saves = round % 2 == 1;
    const double start = common::SteadySeconds();
    if (saves) snapshots.Begin();
    status = ComputeStep(*job, batch, options.micro_batches);
    snapshots.HoldBack();
    if (status.ok()) status = UpdateWeights(place, *job, tokens);
    seconds[saves ? 1 : 0].push_back(common::SteadySeconds() - start);
  }
  status.Update(snapshots.status());
  if (!status.ok()) return status;
  PrintRow("speed_with_snapshots", train::Median(seconds[0]) / train::Median(seconds[1]));
  PrintRow("snapshots_taken", static_cast<double>(snapshots.taken()) / kRounds);
  return absl::OkStatus();
}

}  // namespace rekindle::gpu
