#include "worker/agent/lines/checkpoint_link.h"

#include <chrono>
#include <utility>

#include "common/log/log.h"

namespace rekindle::agent {
namespace {

constexpr auto kPeriod = std::chrono::seconds(1);
// A checkpoint service that does not answer is asked again soon, because it may be starting together with a trainer,
// and that trainer needs it to restore from peers.
constexpr auto kAbsentPeriod = std::chrono::milliseconds(100);
constexpr auto kDeadline = std::chrono::milliseconds(500);
constexpr size_t kLongest = 128;

}  // namespace

CheckpointLink::CheckpointLink(std::shared_ptr<grpc::Channel> channel, const common::Waker* waker)
    : stub_(v1::Checkpoints::NewStub(channel)), waker_(waker), thread_([this] { Loop(); }) {}

CheckpointLink::~CheckpointLink() {
  {
    const common::MutexLock lock(mutex_);
    stopping_ = true;
  }
  stop_.NotifyAll();
  thread_.join();
}

std::string CheckpointLink::incarnation() const {
  const common::MutexLock lock(mutex_);
  return incarnation_;
}

std::string CheckpointLink::address() const {
  const common::MutexLock lock(mutex_);
  return address_;
}

void CheckpointLink::SetPeers(v1::SetPeersRequest peers) {
  const common::MutexLock lock(mutex_);
  if (peers_ && peers_->SerializeAsString() == peers.SerializeAsString()) return;
  peers_ = std::move(peers);
  peers_changed_ = true;
  stop_.NotifyAll();
}

bool CheckpointLink::Ask(v1::GetInfoReply* reply) {
  std::optional<v1::SetPeersRequest> peers;
  {
    const common::MutexLock lock(mutex_);
    peers = peers_;
    peers_changed_ = false;
  }
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  const grpc::Status status =
      peers ? stub_->SetPeers(&context, *peers, reply) : stub_->GetInfo(&context, v1::GetInfoRequest(), reply);
  return status.ok();
}

void CheckpointLink::Loop() {
  for (;;) {
    v1::GetInfoReply reply;
    if (!Ask(&reply)) reply.Clear();
    const std::string found = reply.incarnation().substr(0, kLongest);
    common::MutexLock lock(mutex_);
    if (found != incarnation_ || reply.address() != address_) {
      log::Info(found.empty() ? "checkpoint service does not answer" : "checkpoint service answers",
                {{"incarnation", found}});
      incarnation_ = found;
      address_ = reply.address().substr(0, kLongest);
      waker_->Wake();
    }
    const std::chrono::milliseconds period = found.empty() ? kAbsentPeriod : kPeriod;
    const auto is_due = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || peers_changed_; };
    if (stop_.WaitFor(lock, period, is_due) && stopping_) return;
  }
}

}  // namespace rekindle::agent
