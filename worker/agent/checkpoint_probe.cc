#include "worker/agent/checkpoint_probe.h"

#include <chrono>
#include <utility>

#include "common/log.h"

namespace rekindle::agent {
namespace {

constexpr auto kPeriod = std::chrono::seconds(1);
constexpr auto kAbsentPeriod = std::chrono::milliseconds(100);  // A trainer that starts beside it restores from peers.
constexpr auto kDeadline = std::chrono::milliseconds(500);
constexpr size_t kLongest = 128;

}  // namespace

CheckpointProbe::CheckpointProbe(std::shared_ptr<grpc::Channel> channel, const Waker* waker)
    : stub_(v1::Checkpoints::NewStub(channel)), waker_(waker), thread_([this] { Loop(); }) {}

CheckpointProbe::~CheckpointProbe() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  thread_.join();
}

std::string CheckpointProbe::incarnation() const {
  std::lock_guard lock(mutex_);
  return incarnation_;
}

std::string CheckpointProbe::address() const {
  std::lock_guard lock(mutex_);
  return address_;
}

void CheckpointProbe::SetPeers(v1::SetPeersRequest peers) {
  std::lock_guard lock(mutex_);
  if (peers_ && peers_->SerializeAsString() == peers.SerializeAsString()) return;
  peers_ = std::move(peers);
  peers_changed_ = true;
  stop_.notify_all();
}

bool CheckpointProbe::Ask(v1::GetInfoReply* reply) {
  std::optional<v1::SetPeersRequest> peers;
  {
    std::lock_guard lock(mutex_);
    peers = peers_;
    peers_changed_ = false;
  }
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  const grpc::Status status =
      peers ? stub_->SetPeers(&context, *peers, reply) : stub_->GetInfo(&context, v1::GetInfoRequest(), reply);
  return status.ok();
}

void CheckpointProbe::Loop() {
  for (;;) {
    v1::GetInfoReply reply;
    if (!Ask(&reply)) reply.Clear();
    const std::string found = reply.incarnation().substr(0, kLongest);
    std::unique_lock lock(mutex_);
    if (found != incarnation_ || reply.address() != address_) {
      log::Info(found.empty() ? "checkpoint service does not answer" : "checkpoint service answers",
                {{"incarnation", found}});
      incarnation_ = found;
      address_ = reply.address().substr(0, kLongest);
      waker_->Wake();
    }
    const std::chrono::milliseconds period = found.empty() ? kAbsentPeriod : kPeriod;
    if (stop_.wait_for(lock, period, [&] { return stopping_ || peers_changed_; }) && stopping_) return;
  }
}

}  // namespace rekindle::agent
