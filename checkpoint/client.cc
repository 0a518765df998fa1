#include "checkpoint/client.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "checkpoint/client_core.h"
#include "checkpoint/convert.h"
#include "common/clock.h"
#include "common/shared_memory.h"

namespace rekindle::checkpoint {
namespace {

constexpr double kPollSeconds = 0.05;  // While other ranks' shards are on their way.
constexpr size_t kRestoreThreads = 4;

class Client : public CheckpointClient {
 public:
  Client(ClientOptions options, common::ProcessIdentity self, std::shared_ptr<grpc::Channel> channel)
      : core_(std::move(options), self, std::move(channel)) {}

  absl::StatusOr<std::unique_ptr<StagedShards>> Stage(int generation, int step, int64_t total,
                                                      const std::vector<ShardRange>& ranges) override {
    return StageShards(core_, generation, step, total, ranges);
  }
  absl::StatusOr<std::string> WriteManifest(Manifest manifest, int keep_last, double wait_seconds) override;
  absl::StatusOr<Newest> FindNewest() override;
  absl::StatusOr<Restored> Restore(int generation, const std::string& name, const MutableState& state) override;
  absl::StatusOr<ServiceInfo> GetInfo() override;
  void Cancel() override { core_.channel().Cancel(); }

 private:
  struct RestoredShard {
    Manifest manifest;
    ShardRange range;
    std::string tier;
    int64_t bytes = 0;
  };
  absl::StatusOr<RestoredShard> RestoreShard(int generation, const std::string& name, int index,
                                             const MutableState& state);

  ClientCore core_;
};

absl::StatusOr<std::string> Client::WriteManifest(Manifest manifest, int keep_last, double wait_seconds) {
  manifest.job_uid = core_.options().job_uid;
  manifest.writer = SafeName(core_.options().trainer);
  if (absl::Status status = Validate(manifest); !status.ok()) return status;
  v1::WriteManifestRequest request;
  request.set_store(core_.options().store);
  request.set_keep_last(keep_last);
  ToProto(manifest, request.mutable_manifest());
  const double until = common::SteadySeconds() + wait_seconds;
  while (true) {
    v1::WriteManifestReply reply;
    const absl::Status status = core_.Call(&CheckpointsStub::WriteManifest, request, &reply);
    if (status.ok()) return reply.name();
    if (!absl::IsNotFound(status) || common::SteadySeconds() >= until) return status;
    if (!core_.channel().Sleep(kPollSeconds)) return absl::CancelledError("cancelled");
  }
}

absl::StatusOr<Newest> Client::FindNewest() {
  v1::FindNewestRequest request;
  request.set_job_uid(core_.options().job_uid);
  request.set_store(core_.options().store);
  v1::FindNewestReply reply;
  const absl::Status status = core_.Call(&CheckpointsStub::FindNewest, request, &reply, core_.options().commit_seconds);
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

absl::StatusOr<Client::RestoredShard> Client::RestoreShard(int generation, const std::string& name, int index,
                                                           const MutableState& state) {
  v1::RestoreRequest request;
  core_.FillOwner(generation, request.mutable_owner());
  request.set_store(core_.options().store);
  request.set_name(name);
  request.add_shards(index);
  const double until = common::SteadySeconds() + core_.options().patience_seconds;
  while (true) {
    v1::RestoreReply reply;
    const absl::Status status = core_.Call(&CheckpointsStub::Restore, request, &reply, core_.options().commit_seconds);
    if (!status.ok()) return status;
    auto manifest = FromProto(reply.manifest());
    if (!manifest.ok()) return manifest.status();
    if (reply.segments_size() != 1 || reply.paths_size() != 1 || index >= static_cast<int>(manifest->shards.size())) {
      return absl::InternalError("the checkpoint service answered with other shards than asked for");
    }
    const auto bytes = static_cast<size_t>(manifest->shards[static_cast<size_t>(index)].bytes);
    const auto memory = common::SharedMemory::Map(reply.paths(0), bytes, common::SharedMemory::Access::kRead);
    // Not there: the service was restarted since it answered.
    if (absl::IsNotFound(memory.status()) && common::SteadySeconds() < until) continue;
    const absl::StatusOr<ShardRange> range =
        memory.ok() ? ReadShard(memory->span(), state) : absl::StatusOr<ShardRange>(memory.status());
    if (!reply.segments(0).empty()) core_.Release(generation, {reply.segments(0)});
    if (!range.ok()) return range.status();
    return RestoredShard{.manifest = *std::move(manifest),
                         .range = *range,
                         .tier = reply.tiers_size() == 1 ? reply.tiers(0) : "",
                         .bytes = static_cast<int64_t>(bytes)};
  }
}

absl::StatusOr<Restored> Client::Restore(int generation, const std::string& name, const MutableState& state) {
  auto first = RestoreShard(generation, name, 0, state);
  if (!first.ok()) return first.status();
  const size_t count = first->manifest.shards.size();
  std::vector<ShardRange> ranges(count);
  ranges[0] = first->range;
  Restored restored{.manifest = first->manifest, .bytes_from = {{first->tier, first->bytes}}};
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
      restored.bytes_from[one->tier] += one->bytes;
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
  return restored;
}

absl::StatusOr<ServiceInfo> Client::GetInfo() {
  v1::GetInfoReply reply;
  const absl::Status status = core_.Call(&CheckpointsStub::GetInfo, v1::GetInfoRequest(), &reply);
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
