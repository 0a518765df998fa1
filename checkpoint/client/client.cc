#include "checkpoint/client/client.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "checkpoint/client/client_core.h"
#include "checkpoint/client/kept_mappings.h"
#include "checkpoint/client/staged_shards.h"
#include "checkpoint/format/planes.h"
#include "checkpoint/wire/convert.h"
#include "common/memory/shared_memory.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::checkpoint {
namespace {

// The client polls the service every `kPollSeconds` while shards of other ranks are on their way to the store.
constexpr double kPollSeconds = 0.05;
constexpr size_t kRestoreThreads = 4;

struct RestoredShard {
  ShardRange range;
  std::map<std::string, int64_t> bytes_from;
};

// Gathers the shards that the threads of a restore have read. It is thread-safe.
class RestoredShards {
 public:
  explicit RestoredShards(size_t count) : ranges_(count) {}

  // Adds a shard that was restored. Returns false if a shard has failed, so that no more shards are needed.
  bool Add(size_t index, const absl::StatusOr<RestoredShard>& shard) {
    const common::MutexLock lock(mutex_);
    if (error_.ok()) error_ = shard.status();
    if (!error_.ok()) return false;
    ranges_[index] = shard->range;
    for (const auto& [tier, bytes] : shard->bytes_from) bytes_from_[tier] += bytes;
    return true;
  }
  // Moves the gathered shards out. Returns the first error.
  absl::Status Take(std::vector<ShardRange>* ranges, std::map<std::string, int64_t>* bytes_from) {
    const common::MutexLock lock(mutex_);
    *ranges = std::move(ranges_);
    *bytes_from = std::move(bytes_from_);
    return error_;
  }

 private:
  common::Mutex mutex_;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  std::vector<ShardRange> ranges_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, int64_t> bytes_from_ ABSL_GUARDED_BY(mutex_);
};

class Client : public CheckpointClient {
 public:
  Client(ClientOptions options, common::ProcessIdentity self, std::shared_ptr<grpc::Channel> channel)
      : core_(std::move(options), self, std::move(channel)) {}

  absl::StatusOr<std::unique_ptr<StagedShards>> Stage(const SnapshotKey& snapshot,
                                                      const std::vector<ShardRange>& ranges) override {
    return StageShards(core_, snapshot, ranges);
  }
  absl::StatusOr<std::string> WriteManifest(Manifest manifest, const JobFile& job_file, const Retention& retention,
                                            double wait_seconds) override;
  absl::Status KeepManifest(Manifest manifest) override;
  absl::Status WriteJobFile(int generation, const std::string& text, double seconds) override;
  absl::StatusOr<std::string> ReadJobFile() override;
  absl::StatusOr<SearchResult> FindNewest(bool verify) override { return Find("", verify); }
  absl::StatusOr<SearchResult> FindNamed(const std::string& name, bool verify) override { return Find(name, verify); }
  absl::StatusOr<Restored> RestoreShards(int generation, const std::string& name, int64_t total,
                                         const ReadShard& read) override;
  absl::StatusOr<ServiceInfo> GetInfo() override;
  void Cancel() override { core_.channel().Cancel(); }

 private:
  absl::StatusOr<SearchResult> Find(const std::string& name, bool verify);
  absl::StatusOr<v1::WriteManifestRequest> RequestFor(Manifest manifest);
  // Asks the service for the shard `index`, or, if there is no index, for the manifest alone.
  absl::StatusOr<v1::RestoreReply> AskFor(int generation, const std::string& name, std::optional<int> index);
  absl::StatusOr<RestoredShard> RestoreShard(int generation, const std::string& name, const Manifest& manifest,
                                             int index, const ReadShard& read_shard, KeptMappings& mappings);

  ClientCore core_;
};

absl::StatusOr<v1::WriteManifestRequest> Client::RequestFor(Manifest manifest) {
  manifest.job_uid = core_.options().job_uid;
  manifest.writer = SafeName(core_.options().trainer);
  if (absl::Status status = Validate(manifest); !status.ok()) return status;
  v1::WriteManifestRequest request;
  request.set_store(core_.options().store);
  request.set_bundle(core_.options().bundle);
  ToProto(manifest, request.mutable_manifest());
  return request;
}

absl::Status Client::KeepManifest(Manifest manifest) {
  absl::StatusOr<v1::WriteManifestRequest> request = RequestFor(std::move(manifest));
  if (!request.ok()) return request.status();
  request->set_memory_only(true);
  v1::WriteManifestReply reply;
  return core_.Call(&CheckpointsStub::WriteManifest, *request, &reply);
}

absl::StatusOr<std::string> Client::WriteManifest(Manifest manifest, const JobFile& job_file,
                                                  const Retention& retention, double wait_seconds) {
  absl::StatusOr<v1::WriteManifestRequest> made = RequestFor(std::move(manifest));
  if (!made.ok()) return made.status();
  v1::WriteManifestRequest& request = *made;
  ToProto(retention, request.mutable_retention());
  request.set_job_file(job_file.text);
  request.set_needs_job_file(job_file.required);
  const double until = common::SteadySeconds() + wait_seconds;
  while (true) {
    v1::WriteManifestReply reply;
    // WriteManifest has the deadline of a commit, because the service may repeat failed requests to the store, which
    // takes longer than an ordinary call may take.
    const absl::Status status =
        core_.Call(&CheckpointsStub::WriteManifest, request, &reply, core_.options().commit_seconds);
    if (status.ok()) return reply.name();
    if (!absl::IsNotFound(status) || common::SteadySeconds() >= until) return status;
    if (!core_.channel().Sleep(kPollSeconds)) return absl::CancelledError("cancelled");
  }
}

absl::Status Client::WriteJobFile(int generation, const std::string& text, double seconds) {
  v1::WriteJobFileRequest request;
  request.set_store(core_.options().store);
  request.set_job_uid(core_.options().job_uid);
  request.set_generation(generation);
  request.set_job_file(text);
  v1::WriteJobFileReply reply;
  return core_.channel().Call(&CheckpointsStub::WriteJobFile, request, &reply, seconds, /*patience=*/0);
}

absl::StatusOr<std::string> Client::ReadJobFile() {
  v1::ReadJobFileRequest request;
  request.set_store(core_.options().store);
  request.set_job_uid(core_.options().job_uid);
  v1::ReadJobFileReply reply;
  const absl::Status status =
      core_.Call(&CheckpointsStub::ReadJobFile, request, &reply, core_.options().commit_seconds);
  if (!status.ok()) return status;
  return reply.job_file();
}

absl::StatusOr<SearchResult> Client::Find(const std::string& name, bool verify) {
  v1::FindNewestRequest request;
  request.set_job_uid(core_.options().job_uid);
  request.set_store(core_.options().store);
  request.set_archive_store(core_.options().archive_store);
  request.set_verify(verify);
  request.set_exact(core_.options().exact_only);
  request.set_name(name);
  v1::FindNewestReply reply;
  const absl::Status status = core_.Call(&CheckpointsStub::FindNewest, request, &reply, core_.options().commit_seconds);
  if (!status.ok()) return status;
  SearchResult newest{.found = reply.found(),
                      .durable = reply.durable(),
                      .name = reply.name(),
                      .skipped = {reply.skipped().begin(), reply.skipped().end()},
                      .missing = reply.missing(),
                      .highest_generation = reply.highest_generation()};
  for (const v1::Skipped& damaged : reply.damaged()) newest.damaged.push_back({damaged.name(), damaged.reason()});
  if (newest.found) {
    auto manifest = FromProto(reply.manifest());
    if (!manifest.ok()) return manifest.status();
    newest.manifest = *std::move(manifest);
  }
  return newest;
}

absl::StatusOr<v1::RestoreReply> Client::AskFor(int generation, const std::string& name, std::optional<int> index) {
  v1::RestoreRequest request;
  core_.FillOwner(generation, request.mutable_owner());
  request.set_store(core_.options().store);
  request.set_name(name);
  if (index.has_value()) request.add_shards(*index);
  v1::RestoreReply reply;
  const absl::Status status = core_.Call(&CheckpointsStub::Restore, request, &reply, core_.options().commit_seconds);
  if (!status.ok()) return status;
  return reply;
}

// Maps the planes of a shard that the service has placed in shared memory. NOT_FOUND says that the service was
// restarted after it had placed them.
absl::StatusOr<std::vector<common::SharedMemory>> MapPlanes(const v1::RestoreReply& reply,
                                                            std::span<const ShardRef> refs, KeptMappings& mappings) {
  const auto planes = static_cast<int>(refs.size());
  if (reply.segments_size() != planes || reply.paths_size() != planes || reply.tiers_size() != planes) {
    return absl::InternalError("the checkpoint service answered with other shards than asked for");
  }
  std::vector<common::SharedMemory> mapped;
  for (int plane = 0; plane < planes; ++plane) {
    auto memory = mappings.Take(reply.paths(plane), static_cast<size_t>(refs[plane].bytes));
    if (!memory.ok()) return memory.status();
    mapped.push_back(*std::move(memory));
  }
  return mapped;
}

absl::StatusOr<RestoredShard> Client::RestoreShard(int generation, const std::string& name, const Manifest& manifest,
                                                   int index, const ReadShard& read_shard, KeptMappings& mappings) {
  const auto planes = static_cast<size_t>(PlanesOf(manifest));
  const auto refs = std::span(manifest.shards).subspan(planes * static_cast<size_t>(index), planes);
  const double until = common::SteadySeconds() + core_.options().patience_seconds;
  while (true) {
    const auto reply = AskFor(generation, name, index);
    if (!reply.ok()) return reply.status();
    const auto again = FromProto(reply->manifest());
    if (!again.ok()) return again.status();
    if (*again != manifest) return absl::AbortedError(name + ": the manifest changed meanwhile");
    auto mapped = MapPlanes(*reply, refs, mappings);
    if (absl::IsNotFound(mapped.status()) && common::SteadySeconds() < until) continue;
    const absl::StatusOr<ReadState> read =
        !mapped.ok() ? mapped.status()
                     : read_shard(mapped->front().span(), planes > 1 ? mapped->back().span() : std::span<uint8_t>());
    for (int plane = 0; mapped.ok() && plane < reply->paths_size(); ++plane) {
      // A segment of the service's memory tier keeps its shard. Later shards come in other segments, so the mapping
      // would not be used again and is not kept.
      if (reply->tiers(plane) == "memory") continue;
      mappings.Keep(reply->paths(plane), std::move((*mapped)[static_cast<size_t>(plane)]));
    }
    core_.Release(generation, {reply->segments().begin(), reply->segments().end()});
    if (!read.ok()) return read.status();
    RestoredShard restored{.range = read->range};
    for (size_t plane = 0; plane < planes; ++plane) {
      restored.bytes_from[reply->tiers(static_cast<int>(plane))] += refs[plane].bytes;
    }
    return restored;
  }
}

// Returns DATA_LOSS unless the shards' ranges cover the whole state and each element once.
absl::Status CheckCoverage(const std::string& name, std::vector<ShardRange> ranges, int64_t total) {
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  int64_t at = 0;
  for (const ShardRange& range : ranges) {
    if (range.begin != at) return absl::DataLossError(absl::StrCat(name, ": its shards overlap or leave a gap"));
    at = range.end;
  }
  return at == total ? absl::OkStatus()
                     : absl::DataLossError(absl::StrCat(name, ": its shards do not cover the state"));
}

absl::StatusOr<Restored> Client::RestoreShards(int generation, const std::string& name, int64_t total,
                                               const ReadShard& read) {
  const auto reply = AskFor(generation, name, std::nullopt);
  if (!reply.ok()) return reply.status();
  auto manifest = FromProto(reply->manifest());
  if (!manifest.ok()) return manifest.status();
  const auto count = static_cast<size_t>(manifest->shards[0].count);
  Restored restored{.manifest = *std::move(manifest)};
  restored.exact = PlanesOf(restored.manifest) == kMaxPlanes;
  // The mappings of segments are kept because the service places the next shard where the last one was.
  KeptMappings mappings(common::SharedMemory::Access::kRead);
  RestoredShards shards(count);
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      const auto one = RestoreShard(generation, name, restored.manifest, static_cast<int>(i), read, mappings);
      if (!shards.Add(i, one)) return;
    }
  };
  std::vector<std::jthread> threads;
  for (size_t i = 1; i < std::min(kRestoreThreads, count); ++i) threads.emplace_back(work);
  work();
  threads.clear();
  std::vector<ShardRange> ranges;
  absl::Status status = shards.Take(&ranges, &restored.bytes_from);
  if (status.ok()) status = CheckCoverage(name, std::move(ranges), total);
  if (!status.ok()) return status;
  return restored;
}

absl::StatusOr<ServiceInfo> Client::GetInfo() {
  v1::GetInfoReply reply;
  const absl::Status status = core_.Call(&CheckpointsStub::GetInfo, v1::GetInfoRequest(), &reply);
  if (!status.ok()) return status;
  return ServiceInfo{.incarnation = reply.incarnation(), .staged_bytes = reply.staged_bytes()};
}

}  // namespace

absl::StatusOr<Restored> CheckpointClient::Restore(int generation, const std::string& name, const MutableState& state) {
  return RestoreShards(generation, name, state.total,
                       [&](std::span<const uint8_t> plane0, std::span<const uint8_t> plane1) {
                         return ReadPlanes(plane0, plane1, state);
                       });
}

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
