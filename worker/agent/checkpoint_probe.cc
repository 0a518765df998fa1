#include "worker/agent/checkpoint_probe.h"

#include <chrono>

#include "common/log.h"

namespace rekindle::agent {
namespace {

constexpr auto kPeriod = std::chrono::seconds(1);
constexpr auto kDeadline = std::chrono::milliseconds(500);
constexpr size_t kLongestIncarnation = 128;

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

std::string CheckpointProbe::Ask() {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  v1::GetInfoReply reply;
  const bool ok = stub_->GetInfo(&context, v1::GetInfoRequest(), &reply).ok();
  return ok ? reply.incarnation().substr(0, kLongestIncarnation) : "";
}

void CheckpointProbe::Loop() {
  for (;;) {
    const std::string found = Ask();
    std::unique_lock lock(mutex_);
    if (found != incarnation_) {
      log::Info(found.empty() ? "checkpoint service does not answer" : "checkpoint service answers",
                {{"incarnation", found}});
      incarnation_ = found;
      waker_->Wake();
    }
    if (stop_.wait_for(lock, kPeriod, [&] { return stopping_; })) return;
  }
}

}  // namespace rekindle::agent
