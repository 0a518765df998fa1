#include "checkpoint/service/peer_service.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "checkpoint/service/peers.h"
#include "checkpoint/wire/convert.h"
#include "common/digest/hash.h"
#include "common/memory/shared_memory.h"
#include "common/rpc/rpc.h"

namespace rekindle::checkpoint {
PeerService::PeerService(Staging& room, MemoryTier& copies, MemoryTier& own)
    : room_(room),
      copies_(copies),
      own_(own),
      self_(common::Identify(::getpid()).value_or(common::ProcessIdentity())) {}

absl::Status PeerService::Receive(grpc::ServerReader<v1::HoldRequest>& reader, const Staging::Segment& segment,
                                  const std::string& xxh3) {
  const auto size = static_cast<size_t>(segment.bytes());
  const auto memory = segment.Map();
  if (!memory.ok()) return memory.status();
  common::Hasher hasher;
  size_t at = 0;
  v1::HoldRequest piece;
  while (reader.Read(&piece)) {
    const std::string& data = piece.data();
    if (data.size() > size - at) return absl::InvalidArgumentError("more bytes than the header says");
    std::memcpy((*memory)->data() + at, data.data(), data.size());
    hasher.Update(data.data(), data.size());
    at += data.size();
  }
  if (at != size) return absl::DataLossError(absl::StrCat("the copy ended after ", at, " of ", size, " bytes"));
  if (hasher.Hex() != xxh3) return absl::DataLossError("the copy's bytes have another XXH3 than its header says");
  return absl::OkStatus();
}

absl::Status PeerService::DoHold(grpc::ServerReader<v1::HoldRequest>& reader) {
  v1::HoldRequest first;
  if (!reader.Read(&first)) return absl::CancelledError("the peer sent nothing");
  const v1::ShardHeader& header = first.header();
  int64_t bytes = 0;
  if (!IsSafeName(header.job_uid()) || !IsXxh3(header.xxh3()) || header.generation() < 0 || header.step() < 0 ||
      !ToBytes(header.bytes(), 1, kMaxShardBytes, &bytes)) {
    return absl::InvalidArgumentError("a copy needs a job uid, an XXH3, its checkpoint and 1 byte to 64 MiB");
  }
  const CheckpointKey key{header.generation(), header.step()};
  if (const auto held = copies_.Find(header.job_uid(), header.xxh3()); held != nullptr) {
    copies_.Keep(header.job_uid(), key, header.xxh3(), held);
    return absl::OkStatus();
  }
  const SegmentOwner owner{.job_uid = header.job_uid(), .trainer = "copies", .process = self_};
  auto segment = OpenMakingRoom(room_, copies_, owner, bytes);
  if (!segment.ok()) return segment.status();
  const absl::Status status = Receive(reader, **segment, header.xxh3());
  if (status.ok()) copies_.Keep(header.job_uid(), key, header.xxh3(), *segment);
  room_.Release(owner, {(*segment)->name});
  return status;
}

grpc::Status PeerService::Hold(grpc::ServerContext*, grpc::ServerReader<v1::HoldRequest>* reader, v1::HoldReply*) {
  return common::StatusToGrpc(DoHold(*reader));
}

grpc::Status PeerService::Fetch(grpc::ServerContext*, const v1::FetchRequest* request,
                                grpc::ServerWriter<v1::FetchReply>* writer) {
  const auto whole = FindWhole({&own_, &copies_}, request->job_uid(), request->xxh3());
  if (!whole) return common::StatusToGrpc(absl::NotFoundError("this node does not hold the shard, or not whole"));
  const size_t size = whole->memory->size();
  v1::FetchReply piece;
  for (size_t at = 0; at < size; at += kPeerPieceBytes) {
    piece.set_data(whole->memory->data() + at, std::min(kPeerPieceBytes, size - at));
    if (!writer->Write(piece)) break;
  }
  return grpc::Status::OK;
}

grpc::Status PeerService::PutManifest(grpc::ServerContext*, const v1::PutManifestRequest* request,
                                      v1::PutManifestReply*) {
  const auto manifest = FromProto(request->manifest());
  if (!manifest.ok()) return common::StatusToGrpc(manifest.status());
  // The manifest goes both to the tier of copies and to the tier of this node's own shards. Either tier may hold shards
  // that the manifest names, and each has to forget older checkpoints.
  if (!copies_.PutManifest(*manifest) || !own_.PutManifest(*manifest)) {
    return common::StatusToGrpc(absl::FailedPreconditionError("a newer generation is known"));
  }
  return grpc::Status::OK;
}

grpc::Status PeerService::List(grpc::ServerContext*, const v1::ListHeldRequest* request, v1::ListHeldReply* reply) {
  for (const Manifest& manifest : copies_.Manifests(request->job_uid())) ToProto(manifest, reply->add_manifests());
  for (const MemoryTier* tier : {&own_, &copies_}) {
    for (const std::string& xxh3 : tier->Held(request->job_uid())) reply->add_xxh3(xxh3);
  }
  return grpc::Status::OK;
}

}  // namespace rekindle::checkpoint
