#include "worker/train/save/checkpointer.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "common/time/background.h"
#include "common/time/clock.h"

namespace rekindle::train {
namespace {

// The committer waits `kShardsOfOthersSeconds` for the other ranks' shards, which is as long as a shard may take where
// training has priority. If the generation has ended, it waits only `kShardsOfThePastSeconds`: there may be nobody left
// to write the shards, and the checkpoints of the next generation have to wait meanwhile.
constexpr double kShardsOfOthersSeconds = 300, kShardsOfThePastSeconds = 60;
// While the committer waits for shards, it checks every `kLookSeconds` whether its generation has ended.
constexpr double kLookSeconds = 2;
constexpr size_t kMaxLost = 16;
constexpr int kBuffers = 2;
// The one before must begin to leave the device within `kStallSeconds`, or within `kDrainSeconds` if nothing trains
// until the snapshot has ended. Otherwise the snapshot is lost.
constexpr double kStallSeconds = 0.1, kDrainSeconds = 60;

}  // namespace

Checkpointer::Checkpointer(device::Device& device, checkpoint::CheckpointClient& client, CheckpointerOptions options)
    : device_(device),
      client_(client),
      options_(std::move(options)),
      gathering_(options_.spec_digest, options_.tensors) {
  for (int worker = 0; worker < kWorkers; ++worker) {
    threads_[worker] = std::jthread([this, worker](std::stop_token stop) { Loop(stop, worker); });
  }
}

Checkpointer::~Checkpointer() {
  client_.Cancel();
  for (std::jthread& thread : threads_) thread.request_stop();
  // Tasks that are still queued hold memory of the client, so the threads must end before the client is destroyed.
  for (std::jthread& thread : threads_) thread.join();
  // A snapshot that was not copied any more still has the scratch.
  EndScratch();
}

void Checkpointer::EndScratch() {
  {
    const common::MutexLock lock(mutex_);
    if (!std::exchange(uses_scratch_, false)) return;
  }
  options_.scratch->End();
}

void Checkpointer::Begin(const SnapshotInfo& info, const TrainState& state) {
  Snapshot snapshot{.info = info, .step = state.scalars.step, .total = state.weights.size()};
  if (!info.ranges.empty()) {
    // The shards of a rank follow on each other.
    snapshot.origin = info.ranges.front().begin;
    const int64_t count = info.ranges.back().end - snapshot.origin;
    snapshot.parts.push_back(state.weights.Part(snapshot.origin, count));
    for (const FloatBuffer* moment : MomentsOf(state, state.moments)) {
      snapshot.parts.push_back(moment->Part(snapshot.origin, count));
    }
    snapshot.ready = device_.Record(device::Queue::kCompute);
  }
  common::MutexLock lock(mutex_);
  const absl::Status room = CheckRoom(info);
  if (room.ok() || !info.memory_only) Expect(info, state.scalars);
  if (info.ranges.empty()) return;
  if (!room.ok()) {
    lock.Unlock();
    return Lost(snapshot, room);
  }
  if (options_.scratch != nullptr) {
    lock.Unlock();
    const double start = common::SteadySeconds();
    const absl::Status begun = options_.scratch->Begin({snapshot.parts, snapshot.origin, snapshot.ready}, info.ranges,
                                                       info.precision, info.urgent ? kDrainSeconds : kStallSeconds);
    waited_to_begin_ = common::SteadySeconds() - start;
    if (!begun.ok()) return Lost(snapshot, begun);
    // Who saves urgently needs the list of the shards at once, and that is there when they are copied.
    snapshot.leaves_at_once = !info.urgent && options_.scratch->IsSplit();
    lock.Lock();
    uses_scratch_ = true;
  }
  Count(info, true);
  copy_ = snapshot.leaves_at_once ? Copy::kIdle : Copy::kStaging;
  snapshot.id = ++newest_;
  Enqueue(kCopier, [this, snapshot] { Save(snapshot); });
}

void Checkpointer::Expect(const SnapshotInfo& info, const StateScalars& scalars) {
  if (!info.memory_only) {
    // At the end of a job the same step may be saved a second time. What the first save has found no longer counts.
    lost_.erase({info.generation, scalars.step});
    std::erase_if(notes_, [&](const ShardNotes& notes) { return notes.step == scalars.step; });
    durable_step_ = scalars.step;
    others_are_done_ = false;
  }
  gathering_.Expect(info, scalars);
}

absl::Status Checkpointer::CheckRoom(const SnapshotInfo& info) const {
  if (info.memory_only) {
    const bool waits = keeping_ || uses_scratch_ || copy_ != Copy::kIdle;
    return waits ? absl::UnavailableError("the snapshot before is still being copied") : absl::OkStatus();
  }
  if (writing_ < kBuffers) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("the two checkpoints before are still being written",
                                             waits_for_.empty()
                                                 ? "; take them less often (checkpoint.every_steps, or interval: auto)"
                                                 : absl::StrCat("; the first of them waits, as ", waits_for_)));
}

void Checkpointer::Count(const SnapshotInfo& info, bool begins) {
  if (info.memory_only) {
    keeping_ = begins;
  } else {
    writing_ += begins ? 1 : -1;
  }
}

double Checkpointer::WaitCopied(double stall_seconds) {
  const double waited = AwaitCopy(stall_seconds) + std::exchange(waited_to_begin_, 0);
  if (options_.scratch != nullptr) options_.scratch->HoldBack();
  return waited;
}

double Checkpointer::AwaitCopy(double stall_seconds) {
  const double start = common::SteadySeconds();
  common::MutexLock lock(mutex_);
  if (copy_ == Copy::kIdle) return 0;
  changed_.WaitFor(lock, std::chrono::duration<double>(stall_seconds),
                   [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return copy_ != Copy::kStaging; });
  // Training waits no longer for memory. Save() sees in `copy_` that the memory comes too late and drops the snapshot.
  if (copy_ == Copy::kStaging) copy_ = Copy::kIdle;
  if (auto staged = being_copied_; staged != nullptr && options_.scratch == nullptr) {
    const Snapshot from = copied_from_;
    lock.Unlock();
    // An error of this copy is ignored, because Save() copies the same shards and gets the same error.
    CopyState(*staged, from).IgnoreError();
    lock.Lock();
    // Whoever drops the staged shards last waits for their writes to end. That must not be the training thread, so a
    // task of the thread that writes them holds them, too.
    Enqueue(from.info.memory_only ? kKeeper : kWriter, [staged = std::move(staged)] {});
  }
  changed_.Wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return copy_ == Copy::kIdle; });
  return common::SteadySeconds() - start;
}

void Checkpointer::Save(const Snapshot& snapshot) {
  auto opened = client_.Stage({.generation = snapshot.info.generation,
                               .step = static_cast<int>(snapshot.step),
                               .total = snapshot.total,
                               .precision = snapshot.info.precision,
                               .urgent = snapshot.info.urgent,
                               .memory_only = snapshot.info.memory_only},
                              snapshot.info.ranges);
  const double start = common::SteadySeconds();
  const std::shared_ptr<checkpoint::StagedShards> staged = opened.ok() ? *std::move(opened) : nullptr;
  double held_up = 0;
  const absl::Status status = staged != nullptr ? CopyStaged(staged, snapshot, &held_up) : opened.status();
  EndScratch();
  {
    const common::MutexLock lock(mutex_);
    if (IsAwaited(snapshot)) copy_ = Copy::kIdle;
    being_copied_ = nullptr;
    if (status.ok()) {
      if (!snapshot.info.memory_only) notes_.push_back({snapshot.step, staged->refs()});
      Enqueue(snapshot.info.memory_only ? kKeeper : kWriter,
              [this, staged, snapshot, start, held_up] { Write(*staged, snapshot, start, held_up); });
    } else {
      Count(snapshot.info, false);
    }
  }
  changed_.NotifyAll();
  if (!status.ok()) Lost(snapshot, status);
}

void Checkpointer::Write(checkpoint::StagedShards& staged, const Snapshot& snapshot, double start,
                         double held_up_seconds) {
  const absl::Status status = staged.Commit();
  // The copy and the writes of a snapshot overlap, so training may hold up both at the same time. The longer of the two
  // times counts, not their sum.
  held_up_seconds = std::max(held_up_seconds, staged.held_up_seconds());
  {
    const common::MutexLock lock(mutex_);
    Count(snapshot.info, false);
    double bytes = 0;
    for (const checkpoint::ShardRef& ref : staged.refs()) bytes += static_cast<double>(ref.bytes);
    if (status.ok() && snapshot.info.memory_only) {
      // The committer gets the list only now, because a manifest makes all nodes forget the state that they held
      // before. A checkpoint of the same step has a list of its own.
      const bool is_current = snapshot.info.generation >= generation_;
      if (is_current && snapshot.step != durable_step_) notes_.push_back({snapshot.step, staged.refs()});
    } else if (status.ok()) {
      write_rate_ = bytes / std::max(common::SteadySeconds() - start - held_up_seconds, 1e-6);
    }
  }
  if (!status.ok()) Lost(snapshot, status);
}

absl::Status Checkpointer::CopyStaged(const std::shared_ptr<checkpoint::StagedShards>& staged, const Snapshot& snapshot,
                                      double* held_up_seconds) {
  if (!snapshot.leaves_at_once) {
    const common::MutexLock lock(mutex_);
    if (!IsAwaited(snapshot)) {
      return absl::DeadlineExceededError("the checkpoint service gave no memory in time; training did not wait");
    }
    copy_ = Copy::kCopying;
    being_copied_ = staged;
    copied_from_ = snapshot;
  }
  changed_.NotifyAll();
  const bool splits = options_.scratch != nullptr;
  const auto copy = [&] { return splits ? CopySplit(*staged, snapshot) : CopyState(*staged, snapshot); };
  if (!splits) device_.After(device::Queue::kSnapshot, snapshot.ready);
  if (snapshot.info.urgent) return copy();
  // The copy gives way to what training needs. A thread that waits for the copy helps with it (see WaitCopied).
  absl::Status status;
  *held_up_seconds = common::RunInBackground([&] { status = copy(); });
  return status;
}

// Copies what the scratch has split, and splits what is left. Training waits only until all is split, unless it saves
// urgently.
absl::Status Checkpointer::CopySplit(checkpoint::StagedShards& staged, const Snapshot& snapshot) {
  PlaneScratch& scratch = *options_.scratch;
  return staged.CopySplit([&](const checkpoint::ShardRange& range) {
    absl::StatusOr<checkpoint::SplitRange> next = scratch.Next(range);
    if (!snapshot.info.urgent && !snapshot.leaves_at_once && scratch.IsSplit()) {
      const common::MutexLock lock(mutex_);
      if (IsAwaited(snapshot)) copy_ = Copy::kIdle;
      changed_.NotifyAll();
    }
    return next;
  });
}

// Copies the state of the host to the staged shards, which any number of threads may do at once. Returns the error of
// the copy or of the device.
absl::Status Checkpointer::CopyState(checkpoint::StagedShards& staged, const Snapshot& snapshot) {
  absl::Status copied;
  absl::Status status =
      RunAndAwait(device_, device::Queue::kSnapshot,
                  {.name = "snapshot", .reads = snapshot.parts, .writes = {}, .run = [&](const device::Addresses& at) {
                     const size_t kept = snapshot.parts.size();
                     copied = staged.Copy({.weights = at.Read<float>(0),
                                           .first_moment = kept > 1 ? at.Read<float>(1) : nullptr,
                                           .second_moment = kept > 2 ? at.Read<float>(2) : nullptr,
                                           .total = snapshot.total,
                                           .origin = snapshot.origin});
                     return absl::OkStatus();
                   }});
  status.Update(copied);
  return status;
}

ShardNotes Checkpointer::TakeNotes() {
  const common::MutexLock lock(mutex_);
  if (notes_.empty()) return {};
  ShardNotes notes = std::move(notes_.front());
  notes_.pop_front();
  return notes;
}

void Checkpointer::Collect(int generation, const ShardNotes& notes) {
  const common::MutexLock lock(mutex_);
  std::optional<GatheredManifest> gathered = gathering_.Add(generation, notes);
  if (!gathered) return;
  Enqueue(gathered->memory_only ? kKeeper : kWriter, [this, gathered = *std::move(gathered)] {
    gathered.memory_only ? CommitToMemory(gathered.manifest) : Commit(gathered.manifest);
  });
}

absl::StatusOr<std::string> Checkpointer::WriteManifest(const checkpoint::Manifest& manifest) {
  const double start = common::SteadySeconds();
  for (;;) {
    const checkpoint::JobFile job_file = options_.job_file ? options_.job_file() : checkpoint::JobFile();
    auto name = client_.WriteManifest(manifest, job_file, options_.retention, kLookSeconds);
    const common::MutexLock lock(mutex_);
    const double patience = manifest.generation == generation_ ? kShardsOfOthersSeconds : kShardsOfThePastSeconds;
    const bool may_wait = !others_are_done_ && common::SteadySeconds() - start < patience;
    const bool waits = absl::IsNotFound(name.status()) && may_wait;
    waits_for_ = waits ? std::string(name.status().message()) : "";
    if (!waits) return name;
  }
}

void Checkpointer::OthersAreDone() {
  const common::MutexLock lock(mutex_);
  others_are_done_ = true;
}

void Checkpointer::Commit(const checkpoint::Manifest& manifest) {
  {
    const common::MutexLock lock(mutex_);
    // This rank could not write its own shards and has reported that. A commit of this snapshot would wait for these
    // shards in vain.
    if (lost_.contains({manifest.generation, manifest.step})) return;
  }
  const double start = common::SteadySeconds();
  const auto name = WriteManifest(manifest);
  if (absl::IsFailedPrecondition(name.status())) {
    const common::MutexLock lock(mutex_);
    status_.refused_generation = std::max(status_.refused_generation, manifest.generation);
  }
  if (!name.ok()) return Failed(name.status());
  log::Info("checkpoint committed", {{"checkpoint", *name}, {"seconds", common::SteadySeconds() - start}});
  {
    const common::MutexLock lock(mutex_);
    status_.committed = {*name, manifest.generation, manifest.step};
    status_.error.clear();
  }
  options_.changed(Status());
}

void Checkpointer::CommitToMemory(const checkpoint::Manifest& manifest) {
  const absl::Status status = client_.KeepManifest(manifest);
  if (status.ok()) return;
  log::Warning("the nodes do not keep this state", {{"step", manifest.step}, {"error", std::string(status.message())}});
}

void Checkpointer::Lost(const Snapshot& snapshot, const absl::Status& status) {
  if (snapshot.info.memory_only) {
    log::Info("the nodes do not keep this state",
              {{"step", static_cast<long long>(snapshot.step)}, {"why", std::string(status.message())}});
    return;
  }
  {
    const common::MutexLock lock(mutex_);
    lost_.insert({snapshot.info.generation, snapshot.step});
    if (lost_.size() > kMaxLost) lost_.erase(lost_.begin());
  }
  Failed(status);
}

void Checkpointer::Failed(const absl::Status& status) {
  log::Warning("checkpoint failed; training goes on", {{"error", std::string(status.message())}});
  {
    const common::MutexLock lock(mutex_);
    ++status_.failed;
    status_.error = std::string(status.message());
  }
  options_.changed(Status());
}

void Checkpointer::Enter(int generation) {
  const common::MutexLock lock(mutex_);
  generation_ = generation;
  others_are_done_ = false;
  notes_.clear();
  gathering_.Clear();
}

bool Checkpointer::Drain(double seconds) {
  common::MutexLock lock(mutex_);
  return changed_.WaitFor(lock, std::chrono::duration<double>(seconds), [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return std::all_of(work_.begin(), work_.end(), [](const Work& work) { return !work.busy && work.tasks.empty(); });
  });
}

CheckpointStatus Checkpointer::Status() const {
  const common::MutexLock lock(mutex_);
  return status_;
}

double Checkpointer::write_rate() const {
  const common::MutexLock lock(mutex_);
  return write_rate_;
}

void Checkpointer::Enqueue(Worker worker, Task task) {
  work_[worker].tasks.push_back(std::move(task));
  changed_.NotifyAll();
}

void Checkpointer::Loop(std::stop_token stop, int worker) {
  common::MutexLock lock(mutex_);
  Work& work = work_[worker];
  while (changed_.Wait(lock, stop, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !work.tasks.empty(); })) {
    Task task = std::move(work.tasks.front());
    work.tasks.pop_front();
    work.busy = true;
    lock.Unlock();
    task();
    // The end of a task frees memory, which must not happen under the lock.
    task = nullptr;
    lock.Lock();
    work.busy = false;
    changed_.NotifyAll();
  }
}

}  // namespace rekindle::train
