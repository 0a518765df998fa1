#include "checkpoint/service/service.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "checkpoint/wire/convert.h"
#include "common/bundle/bundle.h"
#include "common/log/log.h"
#include "common/memory/shared_memory.h"
#include "common/rpc/rpc.h"
#include "common/time/background.h"
#include "common/time/clock.h"

namespace rekindle::checkpoint {
namespace {

constexpr size_t kMaxTrainerName = 256;
constexpr int kMaxPeers = 1024;

std::string RandomId() {
  std::random_device random;
  return absl::StrCat(absl::Hex(random(), absl::kZeroPad8), absl::Hex(random(), absl::kZeroPad8));
}

absl::StatusOr<SegmentOwner> ParseOwner(const v1::Owner& owner) {
  int64_t start = 0;
  if (!IsSafeName(owner.job_uid()) || owner.trainer().size() > kMaxTrainerName || owner.pid() <= 0 ||
      owner.generation() < 0 || !ToBytes(owner.start_time_ticks(), 0, int64_t{1} << 52, &start)) {
    return absl::InvalidArgumentError("owner: it needs a job uid, a trainer, pid > 0, its start time and a generation");
  }
  return SegmentOwner{.job_uid = owner.job_uid(),
                      .trainer = owner.trainer(),
                      .process = {.pid = owner.pid(), .start_time_ticks = static_cast<uint64_t>(start)},
                      .generation = owner.generation()};
}

prometheus::Counter& StoredBytes(common::Metrics& metrics) {
  return metrics.Counter("rekindle_checkpoint_stored_bytes_total", "Bytes of shards that were made durable.");
}

prometheus::Counter& RestoredBytes(common::Metrics& metrics, Tier tier) {
  return metrics.Counter("rekindle_checkpoint_restored_bytes_total",
                         "Bytes of shards that were handed to trainers, by where they lay.", {{"from", NameOf(tier)}});
}

}  // namespace

CheckpointService::CheckpointService(Parts parts)
    : parts_(std::move(parts)),
      stores_(parts_.fs, parts_.objects, parts_.endpoints),
      housekeeper_(stores_, room_, parts_.metrics),
      incarnation_(RandomId()) {
  // The counters are created at the start, because the growth of a counter cannot be seen if it appears only with its
  // first count.
  (void)StoredBytes(parts_.metrics);
  for (const Tier tier : {Tier::kMemory, Tier::kPeer, Tier::kStore}) (void)RestoredBytes(parts_.metrics, tier);
}

grpc::Status CheckpointService::Run(const char* operation, const std::function<absl::Status()>& call) {
  const double start = common::SteadySeconds();
  const absl::Status status = call();
  const double seconds = common::SteadySeconds() - start;
  parts_.metrics
      .Histogram("rekindle_checkpoint_call_seconds", "Time of a call of the checkpoint service.",
                 common::Metrics::Seconds(), {{"operation", operation}})
      .Observe(seconds);
  if (!status.ok()) {
    // A call that ends with NOT_FOUND has answered and has not failed. For example, a committer repeats WriteManifest
    // until all shards are there, and reports the missing ones itself.
    const bool is_answer = absl::IsNotFound(status);
    if (!is_answer) CountFailure(parts_.metrics, operation);
    const auto level = is_answer ? log::Level::kDebug : log::Level::kWarning;
    log::Write(level, "checkpoint call failed", {{"operation", operation}, {"error", std::string(status.message())}});
  }
  return common::StatusToGrpc(status);
}

absl::Status CheckpointService::DoOpen(const v1::OpenStagingRequest& request, v1::OpenStagingReply* reply) {
  const auto owner = ParseOwner(request.owner());
  if (!owner.ok()) return owner.status();
  // A bad store URI is reported when a trainer asks for a segment, and not only after it has copied its state.
  if (absl::Status status = stores_.Check(request.store()); !status.ok()) return status;
  int64_t bytes = 0;
  if (!ToBytes(request.bytes(), 1, kMaxShardBytes, &bytes)) {
    return absl::InvalidArgumentError("a segment must have 1 byte to 64 MiB");
  }
  const auto segment = parts_.tiers.Open(*owner, bytes);
  if (!segment.ok()) return segment.status();
  reply->set_segment((*segment)->name);
  reply->set_path((*segment)->path);
  return absl::OkStatus();
}

absl::Status CheckpointService::CheckRoom(const v1::CommitShardRequest& request, int64_t bytes) {
  const v1::Owner& owner = request.owner();
  const StoreRoom::Save save{.job_uid = owner.job_uid(),
                             .trainer = owner.trainer(),
                             .generation = owner.generation(),
                             .step = request.step(),
                             .xxh3 = request.xxh3()};
  const auto admit = [&] { return room_.Admit(request.store(), save, bytes, parts_.staging.LentTo(owner.job_uid())); };
  const absl::Status status = admit();
  if (!absl::IsResourceExhausted(status)) return status;
  housekeeper_.MakeRoom(request.store(), owner.job_uid(), owner.generation());
  const absl::Status again = admit();
  if (absl::IsResourceExhausted(again)) room_.GiveUp(save);
  return again;
}

absl::Status CheckpointService::DoCommit(const v1::CommitShardRequest& request, v1::CommitShardReply* reply) {
  const auto owner = ParseOwner(request.owner());
  if (!owner.ok()) return owner.status();
  const auto segment = parts_.staging.Find(*owner, request.segment());
  if (!segment.ok()) return segment.status();
  if (!IsXxh3(request.xxh3())) return absl::InvalidArgumentError("xxh3: not 32 lower-case hex digits");
  int64_t bytes = 0;
  if (!ToBytes(request.bytes(), 1, (*segment)->bytes(), &bytes)) {
    return absl::InvalidArgumentError("bytes: not 1 to the size of the segment");
  }
  if (absl::Status status = parts_.staging.Shrink(**segment, bytes); !status.ok()) return status;
  parts_.tiers.HandOver(owner->job_uid, {owner->generation, request.step()}, request.xxh3(), *segment);
  if (request.memory_only()) {
    parts_.staging.Release(*owner, {request.segment()});
    return absl::OkStatus();
  }
  auto store = stores_.Open(request.store());
  if (!store.ok()) return store.status();
  const auto memory = (*segment)->Map();
  if (!memory.ok()) return memory.status();
  absl::StatusOr<ShardRef> ref;
  // `PutShard` asks for the content only if the shard is not there yet.
  const auto content = [&]() -> absl::StatusOr<std::span<const uint8_t>> {
    if (absl::Status status = CheckRoom(request, bytes); !status.ok()) return status;
    return (*memory)->span();
  };
  const auto put = [&] { ref = store->PutShard(owner->job_uid, content, bytes, request.xxh3()); };
  if (request.urgent()) {
    put();
  } else {
    reply->set_waited_seconds(common::RunInBackground(put));
  }
  if (absl::IsDataLoss(ref.status())) parts_.own.Drop(owner->job_uid, request.xxh3());
  // The store's NOT_FOUND is changed to another error, because the client would take NOT_FOUND for the answer of a
  // service that does not know the segment.
  if (absl::IsNotFound(ref.status())) return absl::FailedPreconditionError(ref.status().message());
  if (!ref.ok()) return ref.status();
  ref->generation = owner->generation;
  parts_.staging.Release(*owner, {request.segment()});
  StoredBytes(parts_.metrics).Increment(static_cast<double>(ref->bytes));
  ToProto(*ref, reply->mutable_shard());
  return absl::OkStatus();
}

absl::Status CheckpointService::DoWriteManifest(const v1::WriteManifestRequest& request,
                                                v1::WriteManifestReply* reply) {
  const auto manifest = FromProto(request.manifest());
  if (!manifest.ok()) return manifest.status();
  const bool is_newest = parts_.tiers.Announce(*manifest);
  if (request.memory_only()) {
    reply->set_name(FormatName(NameOf(*manifest)));
    return is_newest ? absl::OkStatus() : absl::FailedPreconditionError("the nodes know of a newer generation");
  }
  auto store = stores_.Open(request.store());
  if (!store.ok()) return store.status();
  const auto retention = FromProto(request.retention());
  if (!retention.ok()) return retention.status();
  // Whoever finds the checkpoint has to find the code of its job as well.
  if (absl::Status kept = KeepBundle(*store, manifest->job_uid, request.bundle()); !kept.ok()) return kept;
  const auto name = store->PutManifest(*manifest, {.text = request.job_file(), .required = request.needs_job_file()});
  if (!name.ok()) return name.status();
  log::Info("checkpoint durable", {{"job", manifest->job_uid}, {"checkpoint", *name}, {"step", manifest->step}});
  housekeeper_.Due(request.store(), manifest->job_uid, manifest->generation, *retention);
  reply->set_name(*name);
  return absl::OkStatus();
}

absl::Status CheckpointService::KeepBundle(Store& store, const std::string& job_uid, const std::string& address) {
  if (address.empty()) return absl::OkStatus();
  const auto there = store.HasBundle(job_uid, address);
  if (!there.ok()) return there.status();
  if (*there) return absl::OkStatus();
  const std::string path = common::NodeBundleFile(parts_.node_folder, address);
  const auto packed =
      common::ReadFile(*common::PosixFileSystem(), path, static_cast<size_t>(common::kMaxPackedBundleBytes));
  const absl::Status put = packed.ok() ? store.PutBundle(job_uid, address, *packed) : packed.status();
  // What is wrong with the store is told by the checkpoint as well.
  if (packed.ok() && !absl::IsDataLoss(put)) return put;
  // The bundle is missing or damaged on this node. The state of the job is worth more than its code, which the
  // coordinator has too.
  log::Warning("a checkpoint is without the code of its job", {{"job", job_uid}, {"why", std::string(put.message())}});
  return absl::OkStatus();
}

absl::Status CheckpointService::DoWriteJobFile(const v1::WriteJobFileRequest& request) {
  auto store = stores_.Open(request.store());
  if (!store.ok()) return store.status();
  return store->PutJobFile(request.job_uid(), request.generation(), request.job_file());
}

absl::Status CheckpointService::DoReadJobFile(const v1::ReadJobFileRequest& request, v1::ReadJobFileReply* reply) {
  auto store = stores_.Open(request.store());
  if (!store.ok()) return store.status();
  const auto inner = store->ReadJobFile(request.job_uid());
  if (!inner.ok()) return inner.status();
  const auto generation = store->NewestGeneration(request.job_uid());
  if (!generation.ok()) return generation.status();
  reply->set_job_file(FrameJobFile(*inner));
  reply->set_generation(*generation);
  return absl::OkStatus();
}

absl::Status CheckpointService::DoFindNewest(const v1::FindNewestRequest& request, v1::FindNewestReply* reply) {
  auto store = stores_.Open(request.store());
  if (!store.ok()) return store.status();
  const auto newest = parts_.tiers.FindNewest(
      *store, request.job_uid(), {.verify = request.verify(), .exact = request.exact(), .name = request.name()});
  if (!newest.ok()) return newest.status();
  if (!newest->found && request.name().empty() && !request.archive_store().empty()) {
    auto archive = stores_.Open(request.archive_store());
    if (!archive.ok()) return archive.status();
    const absl::Status status = CheckNotInArchive(*archive, request.archive_store(), request.job_uid());
    if (!status.ok()) return status;
  }
  reply->set_found(newest->found);
  reply->set_name(newest->name);
  if (newest->found) ToProto(newest->manifest, reply->mutable_manifest());
  for (const std::string& skipped : newest->skipped) {
    reply->add_skipped(skipped);
    log::Warning("checkpoint skipped", {{"job", request.job_uid()}, {"checkpoint", skipped}});
  }
  reply->set_highest_generation(newest->highest_generation);
  reply->set_durable(newest->durable);
  reply->set_missing(newest->missing);
  for (const SkippedCheckpoint& damaged : newest->damaged) {
    v1::Skipped* out = reply->add_damaged();
    out->set_name(damaged.name);
    out->set_reason(damaged.reason);
  }
  return absl::OkStatus();
}

absl::Status CheckpointService::DoRestore(const grpc::ServerContext& context, const v1::RestoreRequest& request,
                                          v1::RestoreReply* reply) {
  const auto owner = ParseOwner(request.owner());
  if (!owner.ok()) return owner.status();
  auto store = stores_.Open(request.store());
  if (!store.ok()) return store.status();
  const auto manifest = parts_.tiers.ReadManifest(*store, owner->job_uid, request.name());
  if (!manifest.ok()) return manifest.status();
  // The first call of a restore asks for the manifest alone and for no shard. At this call the service records in the
  // store that the generation begins.
  if (request.shards().empty()) {
    const absl::Status begun = store->BeginGeneration(owner->job_uid, owner->generation);
    if (absl::IsFailedPrecondition(begun)) return begun;
    // A store that is unreachable or full does not stop the restore, because the state may be in memory. Without a mark
    // in the store, only the lease keeps ranks of older generations from continuing.
    if (!begun.ok()) {
      log::Warning(
          "a generation begins without its mark in the store",
          {{"job", owner->job_uid}, {"generation", owner->generation}, {"error", std::string(begun.message())}});
    }
  }
  const int count = manifest->shards[0].count, planes = PlanesOf(*manifest);
  const auto outside = [&](int i) { return i < 0 || i >= count; };
  if (request.shards_size() > count || std::any_of(request.shards().begin(), request.shards().end(), outside)) {
    return absl::InvalidArgumentError(absl::StrCat("shards: indices below ", count, ", each once"));
  }
  std::vector<std::string> laid;
  for (int i = 0; i < request.shards_size() * planes; ++i) {
    const ShardRef& ref = manifest->shards[static_cast<size_t>(request.shards(i / planes) * planes + i % planes)];
    const auto one = parts_.tiers.Materialise(*store, *owner, ref, [&] { return context.IsCancelled(); });
    if (!one.ok()) {
      parts_.staging.Release(*owner, laid);
      return one.status();
    }
    const std::string tier = NameOf(one->tier);
    laid.push_back(one->name);
    reply->add_segments(one->name);
    reply->add_paths(one->segment->path);
    reply->add_tiers(tier);
    RestoredBytes(parts_.metrics, one->tier).Increment(static_cast<double>(ref.bytes));
  }
  ToProto(*manifest, reply->mutable_manifest());
  return absl::OkStatus();
}

grpc::Status CheckpointService::OpenStaging(grpc::ServerContext*, const v1::OpenStagingRequest* request,
                                            v1::OpenStagingReply* reply) {
  return Run("open", [&] { return DoOpen(*request, reply); });
}

grpc::Status CheckpointService::CommitShard(grpc::ServerContext*, const v1::CommitShardRequest* request,
                                            v1::CommitShardReply* reply) {
  return Run("commit", [&] { return DoCommit(*request, reply); });
}

grpc::Status CheckpointService::WriteManifest(grpc::ServerContext*, const v1::WriteManifestRequest* request,
                                              v1::WriteManifestReply* reply) {
  return Run("manifest", [&] { return DoWriteManifest(*request, reply); });
}

grpc::Status CheckpointService::WriteJobFile(grpc::ServerContext*, const v1::WriteJobFileRequest* request,
                                             v1::WriteJobFileReply*) {
  return Run("job_file", [&] { return DoWriteJobFile(*request); });
}

grpc::Status CheckpointService::ReadJobFile(grpc::ServerContext*, const v1::ReadJobFileRequest* request,
                                            v1::ReadJobFileReply* reply) {
  return Run("read_job_file", [&] { return DoReadJobFile(*request, reply); });
}

grpc::Status CheckpointService::FindNewest(grpc::ServerContext*, const v1::FindNewestRequest* request,
                                           v1::FindNewestReply* reply) {
  return Run("find", [&] { return DoFindNewest(*request, reply); });
}

grpc::Status CheckpointService::Restore(grpc::ServerContext* context, const v1::RestoreRequest* request,
                                        v1::RestoreReply* reply) {
  return Run("restore", [&] { return DoRestore(*context, *request, reply); });
}

grpc::Status CheckpointService::Release(grpc::ServerContext*, const v1::ReleaseRequest* request, v1::ReleaseReply*) {
  return Run("release", [&] {
    const auto owner = ParseOwner(request->owner());
    if (!owner.ok()) return owner.status();
    parts_.staging.Release(*owner, {request->segments().begin(), request->segments().end()});
    return absl::OkStatus();
  });
}

grpc::Status CheckpointService::GetInfo(grpc::ServerContext*, const v1::GetInfoRequest*, v1::GetInfoReply* reply) {
  return Run("info", [&] {
    FillInfo(reply);
    return absl::OkStatus();
  });
}

void CheckpointService::FillInfo(v1::GetInfoReply* reply) const {
  reply->set_incarnation(incarnation_);
  reply->set_staged_bytes(static_cast<double>(
      std::max<int64_t>(0, parts_.staging.bytes() - parts_.staging.idle_bytes() - parts_.own.bytes())));
  reply->set_address(parts_.address);
  reply->set_held_bytes(static_cast<double>(parts_.own.bytes() + parts_.copies.bytes()));
}

grpc::Status CheckpointService::SetPeers(grpc::ServerContext*, const v1::SetPeersRequest* request,
                                         v1::GetInfoReply* reply) {
  return Run("peers", [&] {
    if (request->peers_size() > kMaxPeers) return absl::InvalidArgumentError("too many peers");
    std::vector<Peer> peers;
    for (const v1::CheckpointPeer& peer : request->peers()) peers.push_back({peer.node(), peer.address(), peer.zone()});
    parts_.peers.Set({.node = request->node(), .address = parts_.address, .zone = request->zone()}, std::move(peers));
    const std::set<std::string> jobs(request->job_uids().begin(), request->job_uids().end());
    parts_.own.KeepJobs(jobs);
    parts_.copies.KeepJobs(jobs);
    FillInfo(reply);
    return absl::OkStatus();
  });
}

}  // namespace rekindle::checkpoint
