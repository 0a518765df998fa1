#include "worker/train/checkpointer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/clock.h"
#include "common/log.h"

namespace rekindle::train {
namespace {

constexpr double kShardsOfOthersSeconds = 60;  // How long the committer waits for the other ranks' shards.
constexpr size_t kMaxGathering = 4;            // Snapshots of which notes are still missing.

}  // namespace

Checkpointer::Checkpointer(checkpoint::CheckpointClient& client, std::string spec_digest, int keep_last,
                           std::function<void()> changed)
    : client_(client),
      spec_digest_(std::move(spec_digest)),
      keep_last_(keep_last),
      changed_status_(std::move(changed)),
      thread_([this](std::stop_token stop) { Loop(stop); }) {}

Checkpointer::~Checkpointer() {
  client_.Cancel();
  thread_.request_stop();
}

void Checkpointer::Begin(int generation, int rank, int world_size, const TrainState& state) {
  Snapshot snapshot;
  snapshot.generation = generation;
  snapshot.step = state.scalars.step;
  snapshot.scalars = ScalarsToJson(state.scalars);
  snapshot.view = {state.weights.data(), state.first_moment.data(), state.second_moment.data(), state.weights.size()};
  snapshot.ranges = checkpoint::ShardsOf(checkpoint::CutShards(snapshot.view.total, world_size), rank);
  std::unique_lock lock(mutex_);
  gathering_[snapshot.step].scalars = snapshot.scalars;
  if (gathering_.size() > kMaxGathering) gathering_.erase(gathering_.begin());
  if (snapshot.ranges.empty()) return;
  if (busy_ || !tasks_.empty()) {
    lock.unlock();
    Failed(absl::UnavailableError(
        "the checkpoint before is still being written; take them less often (checkpoint.every_steps)"));
    return;
  }
  copy_ = Copy::kStaging;
  Enqueue([this, snapshot] { Save(snapshot); });
}

double Checkpointer::WaitCopied(double stall_seconds) {
  const double start = common::SteadySeconds();
  std::unique_lock lock(mutex_);
  if (copy_ == Copy::kIdle) return 0;
  changed_.wait_for(lock, std::chrono::duration<double>(stall_seconds), [&] { return copy_ != Copy::kStaging; });
  if (copy_ == Copy::kStaging) copy_ = Copy::kIdle;  // Save sees that it has come too late.
  changed_.wait(lock, [&] { return copy_ == Copy::kIdle; });
  return common::SteadySeconds() - start;
}

void Checkpointer::Save(const Snapshot& snapshot) {
  auto staged =
      client_.Stage(snapshot.generation, static_cast<int>(snapshot.step), snapshot.view.total, snapshot.ranges);
  absl::Status status = staged.ok() ? CopyStaged(**staged, snapshot) : staged.status();
  {
    std::lock_guard lock(mutex_);
    if (status.ok()) notes_ = {snapshot.step, (*staged)->refs()};
    copy_ = Copy::kIdle;
  }
  changed_.notify_all();
  if (status.ok()) status = (*staged)->Commit();
  if (status.ok()) return;
  lost_step_ = snapshot.step;
  Failed(status);
}

absl::Status Checkpointer::CopyStaged(checkpoint::StagedShards& staged, const Snapshot& snapshot) {
  {
    std::lock_guard lock(mutex_);
    if (copy_ != Copy::kStaging) {
      return absl::DeadlineExceededError("the checkpoint service gave no memory in time; training did not wait");
    }
    copy_ = Copy::kCopying;
  }
  return staged.Copy(snapshot.view);
}

ShardNotes Checkpointer::TakeNotes() {
  std::lock_guard lock(mutex_);
  return std::exchange(notes_, {});
}

void Checkpointer::Collect(int generation, const ShardNotes& notes) {
  std::lock_guard lock(mutex_);
  const auto gathering = gathering_.find(notes.step);
  if (gathering == gathering_.end()) return;
  for (const checkpoint::ShardRef& ref : notes.refs) {
    if (ref.generation == generation) gathering->second.refs[ref.index] = ref;
  }
  auto& refs = gathering->second.refs;
  if (refs.empty() || static_cast<int>(refs.size()) != refs.begin()->second.count) return;
  checkpoint::Manifest manifest;
  manifest.generation = generation;
  manifest.step = static_cast<int>(notes.step);
  manifest.scalars = gathering->second.scalars;
  manifest.spec_digest = spec_digest_;
  for (const auto& [index, ref] : refs) manifest.shards.push_back(ref);
  gathering_.erase(gathering_.begin(), std::next(gathering));
  Enqueue([this, manifest] { Commit(manifest); });
}

void Checkpointer::Commit(checkpoint::Manifest manifest) {
  if (manifest.step == lost_step_) return;  // Our own shard is not in the store: said already, nothing to wait for.
  const double start = common::SteadySeconds();
  const int generation = manifest.generation;
  const int step = manifest.step;
  const auto name = client_.WriteManifest(std::move(manifest), keep_last_, kShardsOfOthersSeconds);
  if (!name.ok()) return Failed(name.status());
  log::Info("checkpoint committed", {{"checkpoint", *name}, {"seconds", common::SteadySeconds() - start}});
  {
    std::lock_guard lock(mutex_);
    status_.committed = {*name, generation, step};
    status_.error.clear();
  }
  changed_status_();
}

void Checkpointer::Failed(const absl::Status& status) {
  log::Warning("checkpoint failed; training goes on", {{"error", std::string(status.message())}});
  {
    std::lock_guard lock(mutex_);
    ++status_.failed;
    status_.error = std::string(status.message());
  }
  changed_status_();
}

void Checkpointer::ForgetNotes() {
  std::lock_guard lock(mutex_);
  notes_ = {};
  gathering_.clear();
}

bool Checkpointer::Drain(double seconds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return !busy_ && tasks_.empty(); });
}

CheckpointStatus Checkpointer::Status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

void Checkpointer::Enqueue(std::function<void()> task) {
  tasks_.push_back(std::move(task));
  changed_.notify_all();
}

void Checkpointer::Loop(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !tasks_.empty(); })) {
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    busy_ = true;
    lock.unlock();
    task();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace rekindle::train
