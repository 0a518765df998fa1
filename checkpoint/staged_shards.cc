#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/client_core.h"
#include "common/clock.h"
#include "common/shared_memory.h"

namespace rekindle::checkpoint {
namespace {

// Usual room: one exception among so many elements. Trained weights rarely have any.
constexpr int64_t kElementsPerException = 1024;
constexpr double kRetrySeconds = 0.05;
// Shards on their way to the store at once. A bucket answers late; for a folder more would only take processors from
// training (scripts/bench checkpoint: 0.96 of its speed beside three, 0.90 beside six).
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
  const std::vector<ShardRef>& refs() const override { return refs_; }
  absl::Status Commit() override;
  double held_up_seconds() const override;

 private:
  // A plane of a shard, in shared memory.
  struct Lent {
    std::string segment;  // Empty once committed.
    std::string path;
    common::SharedMemory memory;
  };
  struct Part {
    ShardRange range;
    std::array<Lent, kMaxPlanes> planes;
  };
  size_t planes() const { return static_cast<size_t>(PlanesOf(snapshot_.precision)); }
  absl::Status Open(int64_t bytes, Lent* lent);
  absl::StatusOr<WrittenPlanes> WritePart(const StateView& state, Part* part);
  absl::StatusOr<int64_t> CopyPart(const StateView& state, size_t i);
  bool Savable() const { return nonfinite_ == 0 || core_.options().allow_nonfinite; }  // REQUIRES: mutex_ held.
  void Send(size_t part);                                                              // REQUIRES: mutex_ held.
  void CommitLoop(const std::stop_token& stop);
  absl::StatusOr<double> CommitPlane(const ShardRef& ref, Lent* lent);

  ClientCore& core_;
  const SnapshotKey snapshot_;
  std::vector<Part> parts_;
  std::vector<ShardRef> refs_;  // All of plane 0, then all of plane 1.
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  size_t next_ = 0;        // Of parts_, to be copied.
  int copying_ = 0;        // Threads, a part each.
  int64_t nonfinite_ = 0;  // Values, in what is copied.
  absl::Status copy_error_;
  std::set<size_t> waiting_;  // Of refs_, copied and not on their way yet.
  size_t committed_ = 0;
  double held_up_ = 0;  // Seconds, of all commits.
  absl::Status error_;  // The first of a commit; then nothing more is sent.
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
    // Not there: the service was restarted since it answered.
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
  // Here and not by who copies: a thread inherits its maker's priority.
  for (size_t i = 0; i < std::min(CommitThreads(core_.options().store), refs_.size()); ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { CommitLoop(stop); });
  }
  return absl::OkStatus();
}

absl::StatusOr<WrittenPlanes> Staged::WritePart(const StateView& state, Part* part) {
  const auto write = [&] {
    return WritePlanes(state, part->range, snapshot_.precision, part->planes[0].memory.span(),
                       part->planes[1].memory.span());
  };
  auto written = write();
  if (!absl::IsResourceExhausted(written.status())) return written;
  core_.SetFullRoom();
  core_.Release(snapshot_.generation, {std::exchange(part->planes[1], {}).segment});
  const int64_t n = part->range.end - part->range.begin;
  const PlaneBytes bytes = SizeOfPlanes(snapshot_.total, part->range, snapshot_.precision, n);
  if (absl::Status status = Open(bytes.plane1, &part->planes[1]); !status.ok()) return status;
  return write();
}

// The number of values that are not finite.
absl::StatusOr<int64_t> Staged::CopyPart(const StateView& state, size_t i) {
  Part& part = parts_[i];
  const auto written = WritePart(state, &part);
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
  std::unique_lock lock(mutex_);
  while (next_ < parts_.size() && copy_error_.ok()) {
    const size_t i = next_++;
    ++copying_;
    lock.unlock();
    const auto nonfinite = CopyPart(state, i);
    lock.lock();
    --copying_;
    if (nonfinite.ok()) {
      nonfinite_ += *nonfinite;
      if (Savable()) Send(i);
    } else if (copy_error_.ok()) {
      copy_error_ = nonfinite.status();
    }
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return copying_ == 0; });
  if (!copy_error_.ok() || Savable()) return copy_error_;
  return absl::FailedPreconditionError(
      absl::StrCat("the state at step ", snapshot_.step, " has ", nonfinite_,
                   " values that are NaN or infinite: it is not saved, so that the checkpoint before it stays the "
                   "newest (checkpoint.allow_nonfinite saves it nevertheless)"));
}

// Seconds for which the service had no processor for it.
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
    v1::CommitShardReply reply;
    const absl::Status status =
        core_.Call(&CheckpointsStub::CommitShard, request, &reply, core_.options().commit_seconds);
    held_up = reply.waited_seconds();
    if (status.ok()) break;
    if (!absl::IsNotFound(status) || common::SteadySeconds() >= until) return status;
    if (!core_.channel().Sleep(kRetrySeconds)) return absl::CancelledError("cancelled");
    // The service was restarted and has dropped the segment; its memory is still mapped here.
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

// Copied: to the store with it.
void Staged::Send(size_t part) {
  for (size_t plane = 0; plane < planes(); ++plane) waiting_.insert(plane * parts_.size() + part);
}

void Staged::CommitLoop(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !waiting_.empty() && error_.ok(); }) && !stop.stop_requested()) {
    const size_t i = waiting_.extract(waiting_.begin()).value();
    lock.unlock();
    const auto held_up = CommitPlane(refs_[i], &parts_[i % parts_.size()].planes[i / parts_.size()]);
    lock.lock();
    if (held_up.ok()) ++committed_;
    held_up_ += held_up.value_or(0);
    if (error_.ok()) error_ = held_up.status();
    changed_.notify_all();
  }
}

absl::Status Staged::Commit() {
  std::unique_lock lock(mutex_);
  if (next_ < parts_.size() || copying_ > 0 || !copy_error_.ok() || !Savable()) {
    return absl::FailedPreconditionError("Commit needs a Copy before it");
  }
  changed_.wait(lock, [&] { return committed_ == refs_.size() || !error_.ok(); });
  return error_;
}

double Staged::held_up_seconds() const {
  std::lock_guard lock(mutex_);
  return threads_.empty() ? 0 : held_up_ / static_cast<double>(threads_.size());  // They ran beside each other.
}

}  // namespace

absl::StatusOr<std::unique_ptr<StagedShards>> StageShards(ClientCore& core, const SnapshotKey& snapshot,
                                                          const std::vector<ShardRange>& ranges) {
  auto staged = std::make_unique<Staged>(core, snapshot);
  if (absl::Status status = staged->Reserve(ranges); !status.ok()) return status;
  return staged;
}

}  // namespace rekindle::checkpoint
