#include "worker/train/checkpointer.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/background.h"
#include "common/clock.h"
#include "common/log.h"

namespace rekindle::train {
namespace {

// How long the committer waits for the other ranks' shards: as long as one may take, where training has priority. Of a
// generation that has ended there may be nobody left to write them, and its successor's checkpoints wait behind.
constexpr double kShardsOfOthersSeconds = 300, kShardsOfThePastSeconds = 60;
constexpr double kLookSeconds = 2;   // Then the committer looks whether its generation has ended.
constexpr size_t kMaxGathering = 4;  // Snapshots of which notes are still missing.
constexpr size_t kMaxLost = 16;
constexpr int kBuffers = 2;

}  // namespace

Checkpointer::Checkpointer(checkpoint::CheckpointClient& client, CheckpointerOptions options)
    : client_(client), options_(std::move(options)) {
  for (Worker* worker : {&copier_, &writer_}) {
    worker->thread = std::jthread([this, worker](std::stop_token stop) { Loop(stop, *worker); });
  }
}

Checkpointer::~Checkpointer() {
  client_.Cancel();
  for (Worker* worker : {&copier_, &writer_}) worker->thread.request_stop();
  // What is left of the tasks holds memory of the client.
  for (Worker* worker : {&copier_, &writer_}) worker->thread.join();
}

void Checkpointer::Begin(const SnapshotInfo& info, const TrainState& state) {
  Snapshot snapshot{.info = info, .step = state.scalars.step};
  snapshot.view = {state.weights.data(), state.first_moment.data(), state.second_moment.data(), state.weights.size()};
  std::unique_lock lock(mutex_);
  gathering_[snapshot.step] = {.info = info, .scalars = ScalarsToJson(state.scalars), .refs = {}};
  if (gathering_.size() > kMaxGathering) gathering_.erase(gathering_.begin());
  lost_.erase({info.generation, snapshot.step});  // The end may save a step again.
  others_are_done_ = false;
  if (info.ranges.empty()) return;
  if (writing_ >= kBuffers) {
    const std::string why = waits_for_.empty() ? "; take them less often (checkpoint.every_steps, or interval: auto)"
                                               : absl::StrCat("; the first of them waits, as ", waits_for_);
    lock.unlock();
    Lost(snapshot, absl::UnavailableError("the two checkpoints before are still being written" + why));
    return;
  }
  ++writing_;
  copy_ = Copy::kStaging;
  snapshot.id = ++newest_;
  Enqueue(copier_, [this, snapshot] { Save(snapshot); });
}

double Checkpointer::WaitCopied(double stall_seconds) {
  const double start = common::SteadySeconds();
  std::unique_lock lock(mutex_);
  if (copy_ == Copy::kIdle) return 0;
  changed_.wait_for(lock, std::chrono::duration<double>(stall_seconds), [&] { return copy_ != Copy::kStaging; });
  if (copy_ == Copy::kStaging) copy_ = Copy::kIdle;  // Save sees that it has come too late.
  if (auto staged = being_copied_; staged != nullptr) {
    const checkpoint::StateView from = copied_from_;
    lock.unlock();
    staged->Copy(from).IgnoreError();  // Save is told the same.
    lock.lock();
    Enqueue(writer_, [staged = std::move(staged)] {});  // The last to hold it waits for its writes: not this thread.
  }
  changed_.wait(lock, [&] { return copy_ == Copy::kIdle; });
  return common::SteadySeconds() - start;
}

void Checkpointer::Save(const Snapshot& snapshot) {
  auto opened = client_.Stage({.generation = snapshot.info.generation,
                               .step = static_cast<int>(snapshot.step),
                               .total = snapshot.view.total,
                               .precision = snapshot.info.precision,
                               .urgent = snapshot.info.urgent},
                              snapshot.info.ranges);
  const double start = common::SteadySeconds();
  const std::shared_ptr<checkpoint::StagedShards> staged = opened.ok() ? *std::move(opened) : nullptr;
  double held_up = 0;
  const absl::Status status = staged != nullptr ? CopyStaged(staged, snapshot, &held_up) : opened.status();
  {
    std::lock_guard lock(mutex_);
    if (IsAwaited(snapshot)) copy_ = Copy::kIdle;
    being_copied_ = nullptr;
    if (status.ok()) {
      notes_.push_back({snapshot.step, staged->refs()});
      Enqueue(writer_, [this, staged, snapshot, start, held_up] { Write(*staged, snapshot, start, held_up); });
    } else {
      --writing_;
    }
  }
  changed_.notify_all();
  if (!status.ok()) Lost(snapshot, status);
}

void Checkpointer::Write(checkpoint::StagedShards& staged, const Snapshot& snapshot, double start,
                         double held_up_seconds) {
  const absl::Status status = staged.Commit();
  // Copy and writes overlap, so not their sum.
  held_up_seconds = std::max(held_up_seconds, staged.held_up_seconds());
  {
    std::lock_guard lock(mutex_);
    --writing_;
    double bytes = 0;
    for (const checkpoint::ShardRef& ref : staged.refs()) bytes += static_cast<double>(ref.bytes);
    if (status.ok()) write_rate_ = bytes / std::max(common::SteadySeconds() - start - held_up_seconds, 1e-6);
  }
  if (!status.ok()) Lost(snapshot, status);
}

absl::Status Checkpointer::CopyStaged(const std::shared_ptr<checkpoint::StagedShards>& staged, const Snapshot& snapshot,
                                      double* held_up_seconds) {
  {
    std::lock_guard lock(mutex_);
    if (!IsAwaited(snapshot)) {
      return absl::DeadlineExceededError("the checkpoint service gave no memory in time; training did not wait");
    }
    copy_ = Copy::kCopying;
    being_copied_ = staged;
    copied_from_ = snapshot.view;
  }
  changed_.notify_all();
  if (snapshot.info.urgent) return staged->Copy(snapshot.view);
  // Beside training, what training needs goes first. Who waits for the copy helps with it: see WaitCopied.
  absl::Status status;
  *held_up_seconds = common::RunInBackground([&] { status = staged->Copy(snapshot.view); });
  return status;
}

ShardNotes Checkpointer::TakeNotes() {
  std::lock_guard lock(mutex_);
  if (notes_.empty()) return {};
  ShardNotes notes = std::move(notes_.front());
  notes_.pop_front();
  return notes;
}

void Checkpointer::Collect(int generation, const ShardNotes& notes) {
  std::lock_guard lock(mutex_);
  const auto found = gathering_.find(notes.step);
  if (found == gathering_.end()) return;
  Gathering& gathering = found->second;
  for (const checkpoint::ShardRef& ref : notes.refs) {
    if (ref.generation == generation) gathering.refs[{ref.index, ref.plane}] = ref;
  }
  const int planes = checkpoint::PlanesOf(gathering.info.precision);
  auto& refs = gathering.refs;
  if (refs.empty() || static_cast<int>(refs.size()) != refs.begin()->second.count * planes) return;
  checkpoint::Manifest manifest;
  manifest.generation = generation;
  manifest.step = static_cast<int>(notes.step);
  manifest.tensors = options_.tensors;
  manifest.loss = gathering.info.loss;
  manifest.validation_loss = gathering.info.validation_loss;
  manifest.scalars = gathering.scalars;
  manifest.spec_digest = options_.spec_digest;
  for (const auto& [key, ref] : refs) manifest.shards.push_back(ref);
  gathering_.erase(gathering_.begin(), std::next(found));
  Enqueue(writer_, [this, manifest] { Commit(manifest); });
}

absl::StatusOr<std::string> Checkpointer::WriteManifest(const checkpoint::Manifest& manifest) {
  const double start = common::SteadySeconds();
  for (;;) {
    const checkpoint::JobFile job_file = options_.job_file ? options_.job_file() : checkpoint::JobFile();
    auto name = client_.WriteManifest(manifest, job_file, options_.retention, kLookSeconds);
    std::lock_guard lock(mutex_);
    const double patience = manifest.generation == generation_ ? kShardsOfOthersSeconds : kShardsOfThePastSeconds;
    const bool may_wait = !others_are_done_ && common::SteadySeconds() - start < patience;
    const bool waits = absl::IsNotFound(name.status()) && may_wait;
    waits_for_ = waits ? std::string(name.status().message()) : "";
    if (!waits) return name;
  }
}

void Checkpointer::OthersAreDone() {
  std::lock_guard lock(mutex_);
  others_are_done_ = true;
}

void Checkpointer::Commit(const checkpoint::Manifest& manifest) {
  {
    std::lock_guard lock(mutex_);
    if (lost_.contains({manifest.generation, manifest.step})) return;  // Said already, and nothing to wait for.
  }
  const double start = common::SteadySeconds();
  const auto name = WriteManifest(manifest);
  if (absl::IsFailedPrecondition(name.status())) {
    std::lock_guard lock(mutex_);
    status_.refused_generation = std::max(status_.refused_generation, manifest.generation);
  }
  if (!name.ok()) return Failed(name.status());
  log::Info("checkpoint committed", {{"checkpoint", *name}, {"seconds", common::SteadySeconds() - start}});
  {
    std::lock_guard lock(mutex_);
    status_.committed = {*name, manifest.generation, manifest.step};
    status_.error.clear();
  }
  options_.changed(Status());
}

void Checkpointer::Lost(const Snapshot& snapshot, const absl::Status& status) {
  {
    std::lock_guard lock(mutex_);
    lost_.insert({snapshot.info.generation, snapshot.step});
    if (lost_.size() > kMaxLost) lost_.erase(lost_.begin());
  }
  Failed(status);
}

void Checkpointer::Failed(const absl::Status& status) {
  log::Warning("checkpoint failed; training goes on", {{"error", std::string(status.message())}});
  {
    std::lock_guard lock(mutex_);
    ++status_.failed;
    status_.error = std::string(status.message());
  }
  options_.changed(Status());
}

void Checkpointer::Enter(int generation) {
  std::lock_guard lock(mutex_);
  generation_ = generation;
  others_are_done_ = false;
  notes_.clear();
  gathering_.clear();
}

bool Checkpointer::Drain(double seconds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                           [&] { return Idle(copier_) && Idle(writer_); });
}

CheckpointStatus Checkpointer::Status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

double Checkpointer::write_rate() const {
  std::lock_guard lock(mutex_);
  return write_rate_;
}

void Checkpointer::Enqueue(Worker& worker, Task task) {
  worker.tasks.push_back(std::move(task));
  changed_.notify_all();
}

void Checkpointer::Loop(std::stop_token stop, Worker& worker) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !worker.tasks.empty(); })) {
    Task task = std::move(worker.tasks.front());
    worker.tasks.pop_front();
    worker.busy = true;
    lock.unlock();
    task();
    task = nullptr;  // Gives memory back: not under the lock.
    lock.lock();
    worker.busy = false;
    changed_.notify_all();
  }
}

}  // namespace rekindle::train
