#include "worker/comm/nccl/nccl_communicator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "worker/comm/connect/host_connect.h"
#include "worker/comm/connect/listener_impl.h"
#include "worker/comm/connect/ring_communicator.h"
#include "worker/comm/contract/work.h"
#include "worker/comm/nccl/nccl_session.h"
#include "worker/comm/rings/operation_header.h"

namespace rekindle::comm {
namespace {

constexpr size_t kPieceBytes = 64 << 20;
// `kPauseSeconds` is the pause between two checks whether the device has completed an operation.
constexpr double kPauseSeconds = 50e-6;
// The thread checks the device `kEagerLooks` times before its first pause, because a small operation is done by then.
constexpr int kEagerLooks = 200;
// After a failure of NCCL, the rank waits `kSuspicionSeconds` for its control channels to report which peer is the
// reason, as in monitor.cc.
constexpr double kSuspicionSeconds = 0.2;

// Rank 0 sends an IdMessage to all ranks, with the id by which they join one NCCL communicator.
struct IdMessage {
  uint32_t made = 0;
  std::array<unsigned char, kRekindleNcclIdBytes> id = {};
  char error[124] = {};
};
static_assert(sizeof(IdMessage) == 256);

class NcclCommunicator : public Communicator {
 public:
  NcclCommunicator(std::unique_ptr<RingCommunicator> host, const NcclOptions& options)
      : options_(options), session_(*options.api), host_(std::move(host)) {}

  absl::Status Join(const std::function<bool()>& cancelled);

  int rank() const override { return host_->rank(); }
  int world_size() const override { return host_->world_size(); }
  int generation() const override { return host_->generation(); }

  Work AllReduce(const void* in, void* out, size_t count, DataType type, ReduceOp op, Stream stream) override {
    if (stream == nullptr) return host_->AllReduce(in, out, count, type, op, stream);
    return Issue({.kind = RekindleNcclOperation::kAllReduce,
                  .type = static_cast<uint32_t>(type),
                  .op = static_cast<uint32_t>(op),
                  .in = in,
                  .out = out,
                  .count = count,
                  .stream = stream});
  }
  Work Broadcast(void* buffer, size_t bytes, int root, Stream stream) override {
    // If `root` is not a rank, the host transport is called as well, because it returns the error for that.
    if (stream == nullptr || !IsRank(root)) return host_->Broadcast(buffer, bytes, root, nullptr);
    return Issue(Bytes(RekindleNcclOperation::kBroadcast, buffer, buffer, bytes, root, stream));
  }
  Work AllGather(const void* in, void* out, size_t bytes, Stream stream) override {
    if (stream == nullptr) return host_->AllGather(in, out, bytes, stream);
    return Issue(Bytes(RekindleNcclOperation::kAllGather, in, out, bytes, 0, stream));
  }
  Work Send(const void* buffer, size_t bytes, int peer, Stream stream) override {
    if (stream == nullptr || !IsRank(peer) || peer == rank()) return host_->Send(buffer, bytes, peer, nullptr);
    return Issue(Bytes(RekindleNcclOperation::kSend, buffer, nullptr, bytes, peer, stream));
  }
  Work Recv(void* buffer, size_t bytes, int peer, Stream stream) override {
    if (stream == nullptr || !IsRank(peer) || peer == rank()) return host_->Recv(buffer, bytes, peer, nullptr);
    return Issue(Bytes(RekindleNcclOperation::kRecv, nullptr, buffer, bytes, peer, stream));
  }

  void Abort(absl::Status why) override { host_->Abort(std::move(why)); }
  void Close() override { host_->Close(); }
  void SetDeadlines(const Deadlines& deadlines) override { host_->SetDeadlines(deadlines); }
  double send_blocked_seconds() const override { return host_->send_blocked_seconds(); }
  absl::Status status() const override { return host_->status(); }
  std::vector<Accusation> accusations() const override { return host_->accusations(); }

 private:
  bool IsRank(int rank) const { return rank >= 0 && rank < world_size(); }
  static RekindleNcclOperation Bytes(RekindleNcclOperation::Kind kind, const void* in, void* out, size_t bytes,
                                     int peer, Stream stream) {
    return {.kind = kind,
            .type = static_cast<uint32_t>(DataType::kUint8),
            .peer = peer,
            .in = in,
            .out = out,
            .count = bytes,
            .stream = stream};
  }
  Work Issue(const RekindleNcclOperation& operation);
  bool RunPieces(Mesh& mesh, const RekindleNcclOperation& operation);
  bool Ended(Mesh& mesh, NcclSession::Outcome outcome);

  const NcclOptions options_;
  // `session_` is the NCCL communicator. The thread of `host_`, the communicator between the hosts, uses it. That
  // thread has ended when `session_` is destroyed, because `host_` is destroyed first.
  NcclSession session_;
  std::unique_ptr<RingCommunicator> host_;
};

// Returns the function that NcclSession calls between two checks of the device. Its first calls return at once, because
// a small operation is done by then. Later calls sleep.
NcclSession::GoOn Patience(Mesh& mesh) {
  return [&mesh, looks = 0]() mutable {
    if (++looks > kEagerLooks) return mesh.Rest(kPauseSeconds);
    std::this_thread::yield();
    return !mesh.ended();
  };
}

// Returns true if an NCCL operation was carried out. Otherwise it ends the communicator, or lets the monitor end it if
// the monitor knows a better reason.
bool NcclCommunicator::Ended(Mesh& mesh, NcclSession::Outcome outcome) {
  if (outcome == NcclSession::Outcome::kDone) {
    mesh.Moved();
    return true;
  }
  if (outcome == NcclSession::Outcome::kGivenUp) return false;
  const double until = common::SteadySeconds() + kSuspicionSeconds;
  while (common::SteadySeconds() < until) {
    if (!mesh.Rest(until - common::SteadySeconds())) return false;
  }
  return mesh.Fail(session_.error());
}

bool NcclCommunicator::RunPieces(Mesh& mesh, const RekindleNcclOperation& operation) {
  const size_t element = SizeOf(static_cast<DataType>(operation.type));
  // An all-gather is not cut into pieces, because the parts of a gathered array lie apart, one per rank.
  const size_t most = operation.kind == RekindleNcclOperation::kAllGather ? operation.count : kPieceBytes / element;
  for (size_t at = 0; at < operation.count; at += most) {
    RekindleNcclOperation piece = operation;
    piece.count = std::min(most, operation.count - at);
    if (piece.in != nullptr) piece.in = static_cast<const std::byte*>(piece.in) + at * element;
    if (piece.out != nullptr) piece.out = static_cast<std::byte*>(piece.out) + at * element;
    if (!Ended(mesh, session_.Run(piece, Patience(mesh)))) return false;
  }
  return true;
}

Work NcclCommunicator::Issue(const RekindleNcclOperation& operation) {
  const bool point_to_point =
      operation.kind == RekindleNcclOperation::kSend || operation.kind == RekindleNcclOperation::kRecv;
  const OperationHeader header{.kind = point_to_point ? OperationHeader::kPointToPoint : OperationHeader::kDevice};
  return host_->Issue(header,
                      [this, operation](Mesh& mesh, const OperationHeader&) { return RunPieces(mesh, operation); });
}

absl::Status NcclCommunicator::Join(const std::function<bool()>& cancelled) {
  IdMessage message;
  if (rank() == 0) {
    message.made = options_.api->make_id(message.id.data(), message.error, sizeof(message.error)) == kRekindleNcclDone;
  }
  const absl::Status sent = host_->Broadcast(&message, sizeof(message), 0, nullptr).Wait();
  // If rank 0 could not make an id, another rank may end the communicator as soon as it has heard so, and the broadcast
  // then fails at rank 0. Rank 0 returns its own reason rather than the error of the broadcast.
  if (!sent.ok() && (rank() != 0 || message.made != 0)) return sent;
  if (message.made == 0) {
    const std::string reason(message.error, strnlen(message.error, sizeof(message.error)));
    return absl::InternalError(absl::StrCat("NCCL: rank 0 could not make an id: ", reason));
  }
  bool was_cancelled = false;
  const auto join = [&](Mesh& mesh, const OperationHeader&) {
    const auto go_on = [&, patience = Patience(mesh)] {
      was_cancelled = cancelled && cancelled();
      return !was_cancelled && patience();
    };
    return Ended(mesh, session_.Join(options_.device, world_size(), rank(), message.id.data(), go_on));
  };
  const absl::Status joined = host_->Issue({.kind = OperationHeader::kDevice}, join).Wait();
  return was_cancelled ? absl::CancelledError("a newer membership has come") : joined;
}

// Passes on the error of a communicator. An error before ConnectNccl() returns becomes its result, and a later one goes
// to on_error.
class ErrorGate {
 public:
  using OnError = std::function<void(const absl::Status&, const std::vector<Accusation>&)>;
  explicit ErrorGate(OnError on_error) : on_error_(std::move(on_error)) {}

  void Tell(const absl::Status& status, const std::vector<Accusation>& accusations) {
    {
      const common::MutexLock lock(mutex_);
      failed_ = true;
      if (!open_) return;
    }
    if (on_error_) on_error_(status, accusations);
  }
  // Lets errors go to on_error from now on. Returns false, and changes nothing, if an error came before.
  bool Open() {
    const common::MutexLock lock(mutex_);
    open_ = !failed_;
    return open_;
  }

 private:
  const OnError on_error_;
  common::Mutex mutex_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
  bool failed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Communicator>> JoinNccl(std::unique_ptr<RingCommunicator> host,
                                                       const Deadlines& deadlines, const NcclOptions& options,
                                                       const std::function<bool()>& cancelled,
                                                       std::vector<Accusation>* accused) {
  auto communicator = std::make_unique<NcclCommunicator>(std::move(host), options);
  communicator->SetDeadlines({.progress_seconds = deadlines.connect_seconds});
  const absl::Status joined = communicator->Join(cancelled);
  if (!joined.ok()) {
    communicator->Abort(joined);
    if (accused != nullptr) *accused = communicator->accusations();
    return joined;
  }
  communicator->SetDeadlines(deadlines);
  return communicator;
}

absl::StatusOr<std::unique_ptr<Communicator>> ConnectNccl(Listener& listener, HostOptions host,
                                                          const NcclOptions& options,
                                                          const std::function<bool()>& cancelled,
                                                          std::vector<Accusation>* accused) {
  if (options.api == nullptr) {
    return absl::FailedPreconditionError("the CUDA plugin was built without NCCL; build it by scripts/bootstrap");
  }
  if (absl::Status valid = CheckHostOptions(host); !valid.ok()) return valid;
  const Deadlines deadlines = host.deadlines;
  auto gate = std::make_shared<ErrorGate>(std::move(host.on_error));
  host.on_error = [gate](const absl::Status& status, const std::vector<Accusation>& accusations) {
    gate->Tell(status, accusations);
  };
  // Every Listener is a ListenerImpl, because Listener::Create() is the only way to get one.
  auto connected = HostConnect(static_cast<ListenerImpl&>(listener), std::move(host), cancelled).Run(accused);
  if (!connected.ok()) return connected.status();
  auto joined = JoinNccl(*std::move(connected), deadlines, options, cancelled, accused);
  if (!joined.ok() || gate->Open()) return joined;
  if (accused != nullptr) *accused = (*joined)->accusations();
  return (*joined)->status();
}

}  // namespace rekindle::comm
