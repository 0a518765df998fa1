#include "checkpoint/client/staged_shards.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/client/client_core.h"
#include "common/memory/shared_memory.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::checkpoint {
namespace {

// The memory that is usually reserved for exceptions (planes.h) holds one exception for every `kElementsPerException`
// elements. Trained weights rarely have any.
constexpr int64_t kElementsPerException = 1024;
constexpr double kRetrySeconds = 0.05;
// Each commit thread sends one shard at a time to the store. A bucket answers late, so it gets more threads. For a
// folder, more threads would only take processors from training (scripts/bench checkpoint: training keeps 0.96 of its
// speed beside three threads, 0.90 beside six).
constexpr size_t kBucketThreads = 6, kFolderThreads = 3;

size_t CommitThreads(const std::string& store) {
  return absl::StrContains(store, "://") && !absl::StartsWith(store, "file://") ? kBucketThreads : kFolderThreads;
}

class Staged : public StagedShards {
 public:
  Staged(ClientCore& core, const SnapshotKey& snapshot) : core_(core), snapshot_(snapshot) {}
  ~Staged() override;

  absl::Status Reserve(const std::vector<ShardRange>& ranges);
  absl::Status Copy(const StateView& state) override;
  absl::Status CopySplit(const NextSplit& next) override;
  const std::vector<ShardRef>& refs() const override { return refs_; }
  absl::Status Commit() override;
  double held_up_seconds() const override;

 private:
  // `Lent` is a plane of a shard in shared memory that the service has lent.
  struct Lent {
    // `segment` is the name of the plane's shared memory segment. It is empty once the plane is committed.
    std::string segment;
    std::string path;
    common::SharedMemory memory;
  };
  struct Part {
    ShardRange range;
    std::array<Lent, kMaxPlanes> planes;
  };
  size_t planes() const { return static_cast<size_t>(PlanesOf(snapshot_.precision)); }
  absl::Status Open(int64_t bytes, Lent* lent);
  // Writes the planes of a part to its memory.
  using Writer = std::function<absl::StatusOr<WrittenPlanes>(Part& part)>;
  absl::StatusOr<WrittenPlanes> WritePart(const Writer& write, Part* part);
  absl::StatusOr<int64_t> CopyPart(const Writer& write, size_t i);
  absl::Status CopyParts(const Writer& write);
  bool Savable() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return nonfinite_ == 0 || core_.options().allow_nonfinite;
  }
  void Send(size_t part) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CommitLoop(const std::stop_token& stop);
  absl::StatusOr<double> CommitPlane(const ShardRef& ref, Lent* lent);

  ClientCore& core_;
  const SnapshotKey snapshot_;
  std::vector<Part> parts_;
  // `refs_` has the refs of all shards, first those of plane 0, then those of plane 1.
  std::vector<ShardRef> refs_;
  mutable common::Mutex mutex_;
  common::CondVar changed_;
  // `next_` is the index of the next part of the state to copy.
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  // `copying_` is the number of threads that copy, each of which copies one part.
  int copying_ ABSL_GUARDED_BY(mutex_) = 0;
  // `nonfinite_` counts the values in the copied parts that are NaN or infinite.
  int64_t nonfinite_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status copy_error_ ABSL_GUARDED_BY(mutex_);
  // `waiting_` has the indices of the refs whose planes are copied but not yet on their way to the store.
  std::set<size_t> waiting_ ABSL_GUARDED_BY(mutex_);
  size_t committed_ ABSL_GUARDED_BY(mutex_) = 0;
  // `held_up_` is the time that all commits together waited for a processor, in seconds.
  double held_up_ ABSL_GUARDED_BY(mutex_) = 0;
  // `error_` is the first error of a commit. After it no more planes are sent.
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_;
};

Staged::~Staged() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
  std::vector<std::string> segments;
  for (Part& part : parts_) {
    for (Lent& lent : part.planes) {
      if (lent.segment.empty()) continue;
      segments.push_back(lent.segment);
      core_.mappings().Keep(lent.path, std::move(lent.memory));
    }
  }
  core_.Release(snapshot_.generation, segments);
}

absl::Status Staged::Open(int64_t bytes, Lent* lent) {
  v1::OpenStagingRequest request;
  core_.FillOwner(snapshot_.generation, request.mutable_owner());
  request.set_store(core_.options().store);
  request.set_bytes(static_cast<double>(bytes));
  const double until = common::SteadySeconds() + core_.options().patience_seconds;
  while (true) {
    v1::OpenStagingReply reply;
    const absl::Status opened = core_.Call(&CheckpointsStub::OpenStaging, request, &reply);
    if (!opened.ok()) return opened;
    lent->segment = reply.segment();
    lent->path = reply.path();
    auto memory = core_.mappings().Take(lent->path, static_cast<size_t>(bytes));
    // If the segment is missing, the service was restarted after it had lent the segment. The new service is then asked
    // for another one.
    if (absl::IsNotFound(memory.status()) && common::SteadySeconds() < until) continue;
    if (!memory.ok()) return memory.status();
    lent->memory = *std::move(memory);
    return absl::OkStatus();
  }
}

absl::Status Staged::Reserve(const std::vector<ShardRange>& ranges) {
  core_.mappings().DropStale();
  for (const ShardRange& range : ranges) {
    Part& part = parts_.emplace_back();
    part.range = range;
    const int64_t n = range.end - range.begin;
    const int64_t exceptions = core_.full_room() ? n : n / kElementsPerException;
    const PlaneBytes bytes = SizeOfPlanes(snapshot_.total, range, snapshot_.precision, exceptions);
    absl::Status status = Open(bytes.plane0, &part.planes[0]);
    if (status.ok() && planes() > 1) status = Open(bytes.plane1, &part.planes[1]);
    if (!status.ok()) return status;
  }
  refs_.resize(parts_.size() * planes());
  // The commit threads start in `Reserve` and not in `Copy`, which may run in a thread of low priority. A thread
  // inherits the priority of the thread that creates it.
  for (size_t i = 0; i < std::min(CommitThreads(core_.options().store), refs_.size()); ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { CommitLoop(stop); });
  }
  return absl::OkStatus();
}

absl::StatusOr<WrittenPlanes> Staged::WritePart(const Writer& write, Part* part) {
  auto written = write(*part);
  if (!absl::IsResourceExhausted(written.status())) return written;
  core_.SetFullRoom();
  core_.Release(snapshot_.generation, {std::exchange(part->planes[1], {}).segment});
  const int64_t n = part->range.end - part->range.begin;
  const PlaneBytes bytes = SizeOfPlanes(snapshot_.total, part->range, snapshot_.precision, n);
  if (absl::Status status = Open(bytes.plane1, &part->planes[1]); !status.ok()) return status;
  return write(*part);
}

// Copies one part of the state and returns the number of its values that are not finite.
absl::StatusOr<int64_t> Staged::CopyPart(const Writer& write, size_t i) {
  Part& part = parts_[i];
  const auto written = WritePart(write, &part);
  if (!written.ok()) return written.status();
  for (size_t plane = 0; plane < planes(); ++plane) {
    const WrittenPlane& one = written->at(static_cast<int>(plane));
    refs_[plane * parts_.size() + i] = {.name = one.xxh3 + ".safetensors",
                                        .bytes = one.bytes,
                                        .xxh3 = one.xxh3,
                                        .generation = snapshot_.generation,
                                        .index = part.range.index,
                                        .count = part.range.count,
                                        .plane = static_cast<int>(plane)};
  }
  return written->nonfinite;
}

absl::Status Staged::Copy(const StateView& state) {
  if (state.total != snapshot_.total) {
    return absl::InvalidArgumentError(
        absl::StrCat("staged for ", snapshot_.total, " elements, the state has ", state.total));
  }
  return CopyParts([&](Part& part) {
    return WritePlanes(state, part.range, snapshot_.precision, part.planes[0].memory.span(),
                       part.planes[1].memory.span());
  });
}

absl::Status Staged::CopySplit(const NextSplit& next) {
  // A part whose memory is too small for its exceptions is written again, from what was split before.
  const Part* split_part = nullptr;
  absl::StatusOr<SplitRange> split = absl::InternalError("nothing was split");
  return CopyParts([&](Part& part) -> absl::StatusOr<WrittenPlanes> {
    if (std::exchange(split_part, &part) != &part) split = next(part.range);
    if (!split.ok()) return split.status();
    return WriteSplitPlanes(*split, snapshot_.total, part.range, snapshot_.precision, part.planes[0].memory.span(),
                            part.planes[1].memory.span());
  });
}

absl::Status Staged::CopyParts(const Writer& write) {
  common::MutexLock lock(mutex_);
  while (next_ < parts_.size() && copy_error_.ok()) {
    const size_t i = next_++;
    ++copying_;
    lock.Unlock();
    const auto nonfinite = CopyPart(write, i);
    lock.Lock();
    --copying_;
    if (nonfinite.ok()) {
      nonfinite_ += *nonfinite;
      if (Savable()) Send(i);
    } else if (copy_error_.ok()) {
      copy_error_ = nonfinite.status();
    }
    changed_.NotifyAll();
  }
  changed_.Wait(lock, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return copying_ == 0; });
  if (!copy_error_.ok() || Savable()) return copy_error_;
  return absl::FailedPreconditionError(
      absl::StrCat("the state at step ", snapshot_.step, " has ", nonfinite_,
                   " values that are NaN or infinite: it is not saved, so that the checkpoint before it stays the "
                   "newest (checkpoint.allow_nonfinite saves it nevertheless)"));
}

// Commits one plane of a shard. Returns for how many seconds the service had no processor for it.
absl::StatusOr<double> Staged::CommitPlane(const ShardRef& ref, Lent* lent) {
  double held_up = 0;
  const double until = common::SteadySeconds() + core_.options().commit_seconds;
  while (true) {
    v1::CommitShardRequest request;
    core_.FillOwner(snapshot_.generation, request.mutable_owner());
    request.set_store(core_.options().store);
    request.set_segment(lent->segment);
    request.set_step(snapshot_.step);
    request.set_xxh3(ref.xxh3);
    request.set_bytes(static_cast<double>(ref.bytes));
    request.set_urgent(snapshot_.urgent);
    request.set_memory_only(snapshot_.memory_only);
    v1::CommitShardReply reply;
    const absl::Status status =
        core_.Call(&CheckpointsStub::CommitShard, request, &reply, core_.options().commit_seconds);
    held_up = reply.waited_seconds();
    if (status.ok()) break;
    if (!absl::IsNotFound(status) || common::SteadySeconds() >= until) return status;
    if (!core_.channel().Sleep(kRetrySeconds)) return absl::CancelledError("cancelled");
    // NOT_FOUND says that the service was restarted and has dropped the plane's segment. This process still maps the
    // memory of that segment, so the plane is copied from it to a new segment.
    common::SharedMemory kept = std::move(lent->memory);
    if (absl::Status opened = Open(ref.bytes, lent); !opened.ok()) {
      lent->memory = std::move(kept);
      return opened;
    }
    std::memcpy(lent->memory.data(), kept.data(), static_cast<size_t>(ref.bytes));
  }
  core_.mappings().Keep(lent->path, std::move(lent->memory));
  *lent = {};
  return held_up;
}

// Queues the planes of a copied part of the state for the write to the store.
void Staged::Send(size_t part) {
  for (size_t plane = 0; plane < planes(); ++plane) waiting_.insert(plane * parts_.size() + part);
}

void Staged::CommitLoop(const std::stop_token& stop) {
  common::MutexLock lock(mutex_);
  const auto is_due = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !waiting_.empty() && error_.ok(); };
  while (changed_.Wait(lock, stop, is_due) && !stop.stop_requested()) {
    const size_t i = waiting_.extract(waiting_.begin()).value();
    lock.Unlock();
    const auto held_up = CommitPlane(refs_[i], &parts_[i % parts_.size()].planes[i / parts_.size()]);
    lock.Lock();
    if (held_up.ok()) ++committed_;
    held_up_ += held_up.value_or(0);
    if (error_.ok()) error_ = held_up.status();
    changed_.NotifyAll();
  }
}

absl::Status Staged::Commit() {
  common::MutexLock lock(mutex_);
  if (next_ < parts_.size() || copying_ > 0 || !copy_error_.ok() || !Savable()) {
    return absl::FailedPreconditionError("Commit needs a Copy before it");
  }
  changed_.Wait(lock,
                [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return committed_ == refs_.size() || !error_.ok(); });
  return error_;
}

double Staged::held_up_seconds() const {
  const common::MutexLock lock(mutex_);
  // The sum of the commits' delays is divided by the number of threads, because the threads ran at the same time.
  return threads_.empty() ? 0 : held_up_ / static_cast<double>(threads_.size());
}

}  // namespace

absl::StatusOr<std::unique_ptr<StagedShards>> StageShards(ClientCore& core, const SnapshotKey& snapshot,
                                                          const std::vector<ShardRange>& ranges) {
  auto staged = std::make_unique<Staged>(core, snapshot);
  if (absl::Status status = staged->Reserve(ranges); !status.ok()) return status;
  return staged;
}

}  // namespace rekindle::checkpoint
