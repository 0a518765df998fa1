#include "checkpoint/service/peers.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "checkpoint/wire/convert.h"
#include "checkpoint/wire/service_limits.h"
#include "common/log/log.h"
#include "common/rpc/rpc.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"

namespace rekindle::checkpoint {
namespace {

// `kAskSeconds` is the deadline of calls to a peer that move no data.
constexpr double kAskSeconds = 2;
// A copy from or to a peer that is slower than `kLeastRate` (bytes per second) is not worth waiting for.
constexpr double kLeastRate = 10 << 20;
constexpr double kListingSeconds = 1;
constexpr size_t kMostListings = 64;
// Every node's certificate contains the name `kNodeName`, so that one certificate serves on all machines, whose
// addresses nobody knows beforehand.
constexpr char kNodeName[] = "rekindle-node";

void SetDeadline(grpc::ClientContext& context, double seconds) {
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6)));
}

double TransferSeconds(size_t bytes) { return kAskSeconds + static_cast<double>(bytes) / kLeastRate; }

}  // namespace

Peer ChooseReplica(const Peer& self, std::vector<Peer> others) {
  std::sort(others.begin(), others.end());
  std::vector<Peer> elsewhere;
  // `before` counts the nodes of this node's zone whose names are before its own. It differs for each of them, so that
  // they choose different peers as far as there are enough.
  size_t before = 0;
  for (const Peer& peer : others) {
    if (!self.zone.empty() && !peer.zone.empty() && peer.zone != self.zone) elsewhere.push_back(peer);
    if (peer.zone == self.zone && peer.node < self.node) ++before;
  }
  if (!elsewhere.empty()) return elsewhere[before % elsewhere.size()];
  if (others.empty()) return {};
  const auto next = std::find_if(others.begin(), others.end(), [&](const Peer& peer) { return self.node < peer.node; });
  return next != others.end() ? *next : others.front();
}

void Peers::Set(const Peer& self, std::vector<Peer> others) {
  std::map<std::string, Link> links;
  const common::MutexLock lock(mutex_);
  self_ = self;
  for (Peer& peer : others) {
    if (peer.address.empty() || peer.node == self.node) continue;
    const auto known = links_.find(peer.node);
    if (known != links_.end() && known->second.peer == peer) {
      links[peer.node] = known->second;
      continue;
    }
    auto channel = common::Connect(
        peer.address,
        {.max_message_bytes = kMaxServiceMessage, .server_name = kNodeName, .what = "checkpoint service"});
    if (!channel.ok()) {
      log::Warning("no channel to a peer", {{"node", peer.node}, {"error", std::string(channel.status().message())}});
      continue;
    }
    const std::string node = peer.node;
    links[node] = {std::move(peer), v1::CheckpointPeers::NewStub(*channel)};
  }
  links_.swap(links);
}

Peer Peers::Replica() const {
  const common::MutexLock lock(mutex_);
  std::vector<Peer> others;
  for (const auto& [node, link] : links_) others.push_back(link.peer);
  return ChooseReplica(self_, std::move(others));
}

std::vector<Peers::Link> Peers::Links() const {
  const common::MutexLock lock(mutex_);
  std::vector<Link> links;
  for (const auto& [node, link] : links_) links.push_back(link);
  return links;
}

std::shared_ptr<v1::CheckpointPeers::Stub> Peers::StubOf(const std::string& node) const {
  const common::MutexLock lock(mutex_);
  const auto link = links_.find(node);
  return link == links_.end() ? nullptr : link->second.stub;
}

std::vector<PeerHoldings> Peers::List(const std::string& job_uid) {
  const std::vector<Link> links = Links();
  std::vector<PeerHoldings> holdings(links.size());
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < links.size(); ++i) {
      threads.emplace_back([&, i] {
        grpc::ClientContext context;
        SetDeadline(context, kAskSeconds);
        v1::ListHeldRequest request;
        request.set_job_uid(job_uid);
        v1::ListHeldReply reply;
        holdings[i].node = links[i].peer.node;
        if (!links[i].stub->List(&context, request, &reply).ok()) return;
        for (const v1::Manifest& message : reply.manifests()) {
          auto manifest = FromProto(message);
          if (manifest.ok() && manifest->job_uid == job_uid) holdings[i].manifests.push_back(*std::move(manifest));
        }
        holdings[i].held.insert(reply.xxh3().begin(), reply.xxh3().end());
      });
    }
  }
  const common::MutexLock lock(mutex_);
  if (listings_.size() >= kMostListings) listings_.clear();
  listings_[job_uid] = {common::SteadySeconds(), holdings};
  return holdings;
}

std::vector<std::string> Peers::Holders(const std::string& job_uid, const std::string& xxh3) {
  std::vector<PeerHoldings> holdings;
  {
    const common::MutexLock lock(mutex_);
    const auto known = listings_.find(job_uid);
    if (known != listings_.end() && common::SteadySeconds() - known->second.at < kListingSeconds) {
      holdings = known->second.holdings;
    }
  }
  if (holdings.empty()) holdings = List(job_uid);
  std::vector<std::string> nodes;
  for (const PeerHoldings& peer : holdings) {
    if (peer.held.count(xxh3)) nodes.push_back(peer.node);
  }
  return nodes;
}

void Peers::PutManifest(const Manifest& manifest) {
  v1::PutManifestRequest request;
  ToProto(manifest, request.mutable_manifest());
  std::vector<std::jthread> threads;
  for (const Link& link : Links()) {
    threads.emplace_back([link, request] {
      grpc::ClientContext context;
      SetDeadline(context, kAskSeconds);
      v1::PutManifestReply reply;
      link.stub->PutManifest(&context, request, &reply);
    });
  }
}

absl::Status Peers::Hold(const Peer& peer, const std::string& job_uid, CheckpointKey key, const std::string& xxh3,
                         std::span<const uint8_t> bytes) {
  const auto stub = StubOf(peer.node);
  if (stub == nullptr) return absl::NotFoundError(absl::StrCat("no peer ", peer.node));
  grpc::ClientContext context;
  SetDeadline(context, TransferSeconds(bytes.size()));
  v1::HoldReply reply;
  const auto writer = stub->Hold(&context, &reply);
  v1::HoldRequest request;
  v1::ShardHeader* header = request.mutable_header();
  header->set_job_uid(job_uid);
  header->set_generation(key.generation);
  header->set_step(key.step);
  header->set_xxh3(xxh3);
  header->set_bytes(static_cast<double>(bytes.size()));
  bool going = writer->Write(request);
  request.clear_header();
  for (size_t at = 0; going && at < bytes.size(); at += kPeerPieceBytes) {
    request.set_data(bytes.data() + at, std::min(kPeerPieceBytes, bytes.size() - at));
    going = writer->Write(request);
  }
  writer->WritesDone();
  return common::StatusFromGrpc(writer->Finish());
}

absl::Status Peers::Fetch(const std::string& node, const std::string& job_uid, const std::string& xxh3, int64_t bytes,
                          const Sink& sink) {
  const auto stub = StubOf(node);
  if (stub == nullptr) return absl::NotFoundError(absl::StrCat("no peer ", node));
  grpc::ClientContext context;
  SetDeadline(context, TransferSeconds(static_cast<size_t>(bytes)));
  v1::FetchRequest request;
  request.set_job_uid(job_uid);
  request.set_xxh3(xxh3);
  const auto reader = stub->Fetch(&context, request);
  v1::FetchReply piece;
  int64_t at = 0;
  absl::Status status;
  while (status.ok() && reader->Read(&piece)) {
    const auto size = static_cast<int64_t>(piece.data().size());
    status = size > bytes - at ? absl::DataLossError(absl::StrCat("peer ", node, " sent more than the shard has"))
                               : sink(at, piece.data().data(), piece.data().size());
    at += size;
  }
  if (!status.ok()) context.TryCancel();
  const absl::Status ended = common::StatusFromGrpc(reader->Finish());
  if (status.ok()) status = ended;
  if (status.ok() && at != bytes)
    status = absl::DataLossError(absl::StrCat("peer ", node, " sent ", at, " of ", bytes));
  return status;
}

}  // namespace rekindle::checkpoint
