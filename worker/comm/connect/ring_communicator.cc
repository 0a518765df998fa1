#include "worker/comm/connect/ring_communicator.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/comm/rings/collectives.h"

namespace rekindle::comm {
namespace {

std::vector<std::unique_ptr<Link>> TakeLinks(std::vector<PeerConnection>& peers) {
  std::vector<std::unique_ptr<Link>> links;
  for (PeerConnection& peer : peers) links.push_back(std::move(peer.link));
  return links;
}

}  // namespace

RingCommunicator::RingCommunicator(RingOptions options)
    : options_(std::move(options)), mesh_(options_.rank, TakeLinks(options_.peers), options_.bell) {
  Monitor::Options watch{
      .deadlines = options_.deadlines, .turn_hook = options_.monitor_hook, .held_up = options_.held_up};
  for (const PeerConnection& peer : options_.peers) watch.controls.push_back(peer.control);
  watch.fail = [this](const Verdict& verdict) { Fail(verdict, false); };
  monitor_ = std::make_unique<Monitor>(std::move(watch), mesh_, ledger_, device_lane_);
  mesh_.SetCallbacks({.link_closed = [this](int peer) { monitor_->LinkClosed(peer); },
                      .fail =
                          [this](const std::string& what) {
                            Fail({absl::InternalError(what), {}}, false);
                          }});
  monitor_->Start();
  thread_ = std::thread([this] { RunOperations(); });
}

RingCommunicator::~RingCommunicator() {
  Abort(absl::CancelledError("the communicator was destroyed"));
  {
    const common::MutexLock lock(mutex_);
    stop_ = true;
    changed_.NotifyAll();
  }
  mesh_.End();
  thread_.join();
  // The monitor is joined before it is destroyed, because its thread may be in Fail(), which uses `monitor_`.
  monitor_->Join();
}

Work RingCommunicator::Issue(OperationHeader header, std::function<bool(Mesh&, const OperationHeader&)> run) {
  auto state = std::make_shared<Work::State>();
  common::MutexLock lock(mutex_);
  if (stage_ != Stage::kOpen) {
    lock.Unlock();
    state->Finish(EndStatus());
    return Work(std::move(state));
  }
  if (header.kind != OperationHeader::kPointToPoint) header.sequence = ledger_.issued.fetch_add(1) + 1;
  queue_.push_back({std::move(run), header, state});
  changed_.NotifyOne();
  return Work(std::move(state));
}

Work RingCommunicator::Refused(const std::string& why) {
  auto state = std::make_shared<Work::State>();
  state->Finish(absl::InvalidArgumentError(why));
  return Work(std::move(state));
}

Work RingCommunicator::AllReduce(const void* in, void* out, size_t count, DataType type, ReduceOp op) {
  const OperationHeader header{.kind = OperationHeader::kAllReduce,
                               .type = static_cast<uint32_t>(type),
                               .op = static_cast<uint32_t>(op),
                               .bytes = count * SizeOf(type)};
  return Issue(
      header, [=](Mesh& mesh, const OperationHeader& h) { return comm::AllReduce(mesh, h, in, out, count, type, op); });
}

Work RingCommunicator::Broadcast(void* buffer, size_t bytes, int root) {
  if (root < 0 || root >= world_size()) return Refused(absl::StrCat("broadcast: no rank ", root));
  const OperationHeader header{.kind = OperationHeader::kBroadcast, .root = root, .bytes = bytes};
  return Issue(header,
               [=](Mesh& mesh, const OperationHeader& h) { return comm::Broadcast(mesh, h, buffer, bytes, root); });
}

Work RingCommunicator::AllGather(const void* in, void* out, size_t bytes) {
  const OperationHeader header{.kind = OperationHeader::kAllGather, .bytes = bytes};
  return Issue(header, [=](Mesh& mesh, const OperationHeader& h) { return comm::AllGather(mesh, h, in, out, bytes); });
}

Work RingCommunicator::Send(const void* buffer, size_t bytes, int peer) {
  if (peer < 0 || peer >= world_size() || peer == rank()) return Refused(absl::StrCat("send: no peer ", peer));
  const OperationHeader header{.kind = OperationHeader::kPointToPoint, .root = rank(), .bytes = bytes};
  return Issue(header, [=](Mesh& mesh, const OperationHeader& h) { return comm::Send(mesh, h, buffer, bytes, peer); });
}

Work RingCommunicator::Recv(void* buffer, size_t bytes, int peer) {
  if (peer < 0 || peer >= world_size() || peer == rank()) return Refused(absl::StrCat("recv: no peer ", peer));
  const OperationHeader header{.kind = OperationHeader::kPointToPoint, .root = peer, .bytes = bytes};
  return Issue(header, [=](Mesh& mesh, const OperationHeader& h) { return comm::Recv(mesh, h, buffer, bytes, peer); });
}

void RingCommunicator::RunOperations() {
  const auto is_due = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stop_ || stage_ == Stage::kFailed || !queue_.empty();
  };
  common::MutexLock lock(mutex_);
  while (true) {
    changed_.Wait(lock, is_due);
    const bool end = stop_ || stage_ == Stage::kFailed;
    if (queue_.empty()) {
      if (end) return;
      continue;
    }
    Operation operation = std::move(queue_.front());
    queue_.pop_front();
    lock.Unlock();
    if (end) {
      operation.state->Finish(EndStatus());
    } else {
      Execute(operation);
    }
    lock.Lock();
  }
}

void RingCommunicator::Execute(Operation& operation) {
  ledger_.collective.store(operation.header.sequence);
  mesh_.Moved();
  ledger_.pending.store(true);
  const bool ok = operation.run(mesh_, operation.header);
  ledger_.pending.store(false);
  if (ok && operation.header.sequence > 0) ledger_.completed.store(operation.header.sequence);
  operation.state->Finish(ok ? absl::OkStatus() : EndStatus());
}

void RingCommunicator::Fail(const Verdict& verdict, bool local) {
  {
    const common::MutexLock lock(mutex_);
    if (stage_ != Stage::kOpen) return;
    stage_ = Stage::kFailed;
    status_ = verdict.status;
    accusations_ = verdict.accusations;
    changed_.NotifyAll();
  }
  mesh_.End();
  monitor_->Stop();
  TellPeers(MakeAbort(verdict));
  if (!local && options_.on_error) options_.on_error(verdict.status, verdict.accusations);
}

void RingCommunicator::TellPeers(const ControlFrame& frame) {
  for (const PeerConnection& peer : options_.peers) {
    if (!peer.control) continue;
    peer.control->Send(frame);
    peer.control->Shutdown();
  }
}

void RingCommunicator::Abort(absl::Status why) {
  if (why.ok()) why = absl::AbortedError("aborted");
  Fail({std::move(why), {}}, true);
}

void RingCommunicator::Close() {
  {
    const common::MutexLock lock(mutex_);
    if (stage_ != Stage::kOpen) return;
    stage_ = Stage::kClosed;
  }
  monitor_->Stop();
  TellPeers({.type = ControlFrame::kClose});
}

void RingCommunicator::SetDeadlines(const Deadlines& deadlines) { monitor_->SetDeadlines(deadlines); }

absl::Status RingCommunicator::EndStatus() const {
  const common::MutexLock lock(mutex_);
  if (stage_ == Stage::kFailed) return status_;
  return absl::FailedPreconditionError("the communicator was closed; a new membership needs a new one");
}

absl::Status RingCommunicator::status() const {
  const common::MutexLock lock(mutex_);
  return status_;
}

std::vector<Accusation> RingCommunicator::accusations() const {
  const common::MutexLock lock(mutex_);
  return accusations_;
}

}  // namespace rekindle::comm
