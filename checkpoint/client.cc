#include "checkpoint/client.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "checkpoint/client_channel.h"
#include "checkpoint/convert.h"
#include "common/clock.h"
#include "common/process.h"
#include "common/shared_memory.h"

namespace rekindle::checkpoint {
namespace {

using Stub = v1::Checkpoints::Stub;

constexpr double kCallSeconds = 30;  // For calls that move no data.
constexpr double kReleaseSeconds = 1;
constexpr double kPollSeconds = 0.05;  // While other ranks' shards are on their way.
constexpr size_t kRestoreThreads = 4;

class Client;

class Staged : public StagedShards {
 public:
  Staged(Client& client, int generation, int step, int64_t total)
      : client_(client), generation_(generation), step_(step), total_(total) {}
  ~Staged() override;

  absl::Status Reserve(const std::vector<ShardRange>& ranges);
  absl::Status Copy(const StateView& state) override;
  const std::vector<ShardRef>& refs() const override { return refs_; }
  absl::Status Commit() override;

 private:
  struct Part {
    ShardRange range;
    std::string segment;  // Empty once committed.
    common::SharedMemory memory;
  };
  absl::Status Open(int64_t bytes, Part* part);
  absl::Status CommitPart(const ShardRef& ref, Part* part);

  Client& client_;
  const int generation_;
  const int step_;
  const int64_t total_;
  std::vector<Part> parts_;
  std::vector<ShardRef> refs_;
};

class Client : public CheckpointClient {
 public:
  Client(ClientOptions options, common::ProcessIdentity self, std::shared_ptr<grpc::Channel> channel)
      : options_(std::move(options)), self_(self), channel_(std::move(channel), options_.socket) {}

  absl::StatusOr<std::unique_ptr<StagedShards>> Stage(int generation, int step, int64_t total,
                                                      const std::vector<ShardRange>& ranges) override {
    auto staged = std::make_unique<Staged>(*this, generation, step, total);
    if (absl::Status status = staged->Reserve(ranges); !status.ok()) return status;
    return staged;
  }

  absl::StatusOr<std::string> WriteManifest(Manifest manifest, int keep_last, double wait_seconds) override;
  absl::StatusOr<Newest> FindNewest() override;
  absl::StatusOr<Manifest> Restore(int generation, const std::string& name, const MutableState& state) override;
  absl::StatusOr<ServiceInfo> GetInfo() override;
  void Cancel() override { channel_.Cancel(); }

  template <typename Request, typename Reply>
  absl::Status Call(ClientChannel::Method<Request, Reply> method, const Request& request, Reply* reply, double seconds,
                    double patience) {
    return channel_.Call(method, request, reply, seconds, patience);
  }
  void FillOwner(int generation, v1::Owner* owner) const {
    owner->set_job_uid(options_.job_uid);
    owner->set_trainer(options_.trainer);
    owner->set_pid(self_.pid);
    owner->set_start_time_ticks(static_cast<double>(self_.start_time_ticks));
    owner->set_generation(generation);
  }
  void Release(int generation, const std::vector<std::string>& segments);
  const ClientOptions& options() const { return options_; }

 private:
  struct Restored {
    Manifest manifest;
    ShardRange range;
  };
  absl::StatusOr<Restored> RestoreShard(int generation, const std::string& name, int index, const MutableState& state);

  const ClientOptions options_;
  const common::ProcessIdentity self_;
  ClientChannel channel_;
};

Staged::~Staged() {
  std::vector<std::string> segments;
  for (const Part& part : parts_) {
    if (!part.segment.empty()) segments.push_back(part.segment);
  }
  client_.Release(generation_, segments);
}

absl::Status Staged::Open(int64_t bytes, Part* part) {
  v1::OpenStagingRequest request;
  client_.FillOwner(generation_, request.mutable_owner());
  request.set_store(client_.options().store);
  request.set_bytes(static_cast<double>(bytes));
  const double until = common::SteadySeconds() + client_.options().patience_seconds;
  while (true) {
    v1::OpenStagingReply reply;
    const absl::Status opened =
        client_.Call(&Stub::OpenStaging, request, &reply, kCallSeconds, client_.options().patience_seconds);
    if (!opened.ok()) return opened;
    part->segment = reply.segment();
    auto memory =
        common::SharedMemory::Map(reply.path(), static_cast<size_t>(bytes), common::SharedMemory::Access::kReadWrite);
    // Not there: the service was restarted since it answered.
    if (absl::IsNotFound(memory.status()) && common::SteadySeconds() < until) continue;
    if (!memory.ok()) return memory.status();
    part->memory = *std::move(memory);
    return absl::OkStatus();
  }
}

absl::Status Staged::Reserve(const std::vector<ShardRange>& ranges) {
  for (const ShardRange& range : ranges) {
    Part& part = parts_.emplace_back();
    part.range = range;
    if (absl::Status status = Open(ShardBytes(total_, range), &part); !status.ok()) return status;
  }
  refs_.resize(parts_.size());
  return absl::OkStatus();
}

absl::Status Staged::Copy(const StateView& state) {
  if (state.total != total_) {
    return absl::InvalidArgumentError(absl::StrCat("staged for ", total_, " elements, the state has ", state.total));
  }
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.memory.size() == 0) return absl::FailedPreconditionError("these shards are committed");
    auto hash = WriteShard(state, part.range, part.memory.span());
    if (!hash.ok()) return hash.status();
    refs_[i] = {.name = *hash + ".safetensors",
                .bytes = static_cast<int64_t>(part.memory.size()),
                .xxh3 = *hash,
                .generation = generation_,
                .index = part.range.index,
                .count = part.range.count};
  }
  return absl::OkStatus();
}

absl::Status Staged::CommitPart(const ShardRef& ref, Part* part) {
  const double until = common::SteadySeconds() + client_.options().commit_seconds;
  while (true) {
    v1::CommitShardRequest request;
    client_.FillOwner(generation_, request.mutable_owner());
    request.set_store(client_.options().store);
    request.set_segment(part->segment);
    request.set_step(step_);
    request.set_xxh3(ref.xxh3);
    v1::ShardRef reply;
    const absl::Status status = client_.Call(&Stub::CommitShard, request, &reply, client_.options().commit_seconds,
                                             client_.options().patience_seconds);
    if (status.ok()) break;
    if (!absl::IsNotFound(status) || common::SteadySeconds() >= until) return status;
    // The service was restarted and has dropped the segment; its memory is still mapped here.
    common::SharedMemory kept = std::move(part->memory);
    if (absl::Status opened = Open(ref.bytes, part); !opened.ok()) {
      part->memory = std::move(kept);
      return opened;
    }
    std::memcpy(part->memory.data(), kept.data(), kept.size());
  }
  part->segment.clear();
  part->memory = {};
  return absl::OkStatus();
}

absl::Status Staged::Commit() {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].segment.empty()) continue;
    if (refs_[i].count == 0) return absl::FailedPreconditionError("Commit needs a Copy before it");
    if (absl::Status status = CommitPart(refs_[i], &parts_[i]); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void Client::Release(int generation, const std::vector<std::string>& segments) {
  if (segments.empty()) return;
  v1::ReleaseRequest request;
  FillOwner(generation, request.mutable_owner());
  request.mutable_segments()->Assign(segments.begin(), segments.end());
  v1::ReleaseReply reply;
  // Best effort: the service takes everything back when this process ends.
  Call(&Stub::Release, request, &reply, kReleaseSeconds, 0).IgnoreError();
}

absl::StatusOr<std::string> Client::WriteManifest(Manifest manifest, int keep_last, double wait_seconds) {
  manifest.job_uid = options_.job_uid;
  manifest.writer = SafeName(options_.trainer);
  if (absl::Status status = Validate(manifest); !status.ok()) return status;
  v1::WriteManifestRequest request;
  request.set_store(options_.store);
  request.set_keep_last(keep_last);
  ToProto(manifest, request.mutable_manifest());
  const double until = common::SteadySeconds() + wait_seconds;
  while (true) {
    v1::WriteManifestReply reply;
    const absl::Status status = Call(&Stub::WriteManifest, request, &reply, kCallSeconds, options_.patience_seconds);
    if (status.ok()) return reply.name();
    if (!absl::IsNotFound(status) || common::SteadySeconds() >= until) return status;
    if (!channel_.Sleep(kPollSeconds)) return absl::CancelledError("cancelled");
  }
}

absl::StatusOr<Newest> Client::FindNewest() {
  v1::FindNewestRequest request;
  request.set_job_uid(options_.job_uid);
  request.set_store(options_.store);
  v1::FindNewestReply reply;
  const absl::Status status =
      Call(&Stub::FindNewest, request, &reply, options_.commit_seconds, options_.patience_seconds);
  if (!status.ok()) return status;
  Newest newest{.found = reply.found(),
                .name = reply.name(),
                .skipped = {reply.skipped().begin(), reply.skipped().end()},
                .highest_generation = reply.highest_generation()};
  if (newest.found) {
    auto manifest = FromProto(reply.manifest());
    if (!manifest.ok()) return manifest.status();
    newest.manifest = *std::move(manifest);
  }
  return newest;
}

absl::StatusOr<Client::Restored> Client::RestoreShard(int generation, const std::string& name, int index,
                                                      const MutableState& state) {
  v1::RestoreRequest request;
  FillOwner(generation, request.mutable_owner());
  request.set_store(options_.store);
  request.set_name(name);
  request.add_shards(index);
  v1::RestoreReply reply;
  const absl::Status status = Call(&Stub::Restore, request, &reply, options_.commit_seconds, options_.patience_seconds);
  if (!status.ok()) return status;
  auto manifest = FromProto(reply.manifest());
  if (!manifest.ok()) return manifest.status();
  if (reply.segments_size() != 1 || reply.paths_size() != 1 || index >= static_cast<int>(manifest->shards.size())) {
    return absl::InternalError("the checkpoint service answered with other shards than asked for");
  }
  const auto bytes = static_cast<size_t>(manifest->shards[static_cast<size_t>(index)].bytes);
  const auto memory = common::SharedMemory::Map(reply.paths(0), bytes, common::SharedMemory::Access::kRead);
  const absl::StatusOr<ShardRange> range =
      memory.ok() ? ReadShard(memory->span(), state) : absl::StatusOr<ShardRange>(memory.status());
  Release(generation, {reply.segments(0)});
  if (!range.ok()) return range.status();
  return Restored{.manifest = *std::move(manifest), .range = *range};
}

absl::StatusOr<Manifest> Client::Restore(int generation, const std::string& name, const MutableState& state) {
  auto first = RestoreShard(generation, name, 0, state);
  if (!first.ok()) return first.status();
  const size_t count = first->manifest.shards.size();
  std::vector<ShardRange> ranges(count);
  ranges[0] = first->range;
  std::mutex mutex;
  absl::Status error;
  std::atomic<size_t> next{1};
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      auto one = RestoreShard(generation, name, static_cast<int>(i), state);
      std::lock_guard lock(mutex);
      if (one.ok() && one->manifest != first->manifest) one = absl::AbortedError("the manifest changed meanwhile");
      if (error.ok()) error = one.status();
      if (!error.ok()) return;
      ranges[i] = one->range;
    }
  };
  std::vector<std::jthread> threads;
  for (size_t i = 1; i < std::min(kRestoreThreads, count); ++i) threads.emplace_back(work);
  threads.clear();
  if (!error.ok()) return error;
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  int64_t at = 0;
  for (const ShardRange& range : ranges) {
    if (range.begin != at) return absl::DataLossError(absl::StrCat(name, ": its shards overlap or leave a gap"));
    at = range.end;
  }
  if (at != state.total) return absl::DataLossError(absl::StrCat(name, ": its shards do not cover the state"));
  return first->manifest;
}

absl::StatusOr<ServiceInfo> Client::GetInfo() {
  v1::GetInfoReply reply;
  const absl::Status status =
      Call(&Stub::GetInfo, v1::GetInfoRequest(), &reply, kCallSeconds, options_.patience_seconds);
  if (!status.ok()) return status;
  return ServiceInfo{.incarnation = reply.incarnation(), .staged_bytes = reply.staged_bytes()};
}

}  // namespace

absl::StatusOr<std::unique_ptr<CheckpointClient>> CheckpointClient::Create(ClientOptions options) {
  if (options.socket.empty() || options.socket[0] != '/') {
    return absl::InvalidArgumentError("the checkpoint service's socket must be an absolute path");
  }
  if (!IsSafeName(options.job_uid)) return absl::InvalidArgumentError("the job uid is not a safe name");
  if (options.trainer.empty()) return absl::InvalidArgumentError("the trainer's name is empty");
  const auto self = common::Identify(::getpid());
  if (!self.ok()) return self.status();
  auto channel = OpenClientChannel(options.socket);
  if (!channel.ok()) return channel.status();
  return std::make_unique<Client>(std::move(options), *self, *std::move(channel));
}

}  // namespace rekindle::checkpoint
