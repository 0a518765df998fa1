// Holds what the parts of the checkpoint client share: who calls, which service, and how long to wait. It is
// thread-safe.
#ifndef REKINDLE_CHECKPOINT_CLIENT_CLIENT_CORE_H_
#define REKINDLE_CHECKPOINT_CLIENT_CLIENT_CORE_H_

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "checkpoint/client/client_channel.h"
#include "checkpoint/client/client_options.h"
#include "checkpoint/client/kept_mappings.h"
#include "common/memory/shared_memory.h"
#include "common/process/process.h"
#include "rekindle/v1/checkpoint.grpc.pb.h"

namespace rekindle::checkpoint {

using CheckpointsStub = v1::Checkpoints::Stub;

// `kCallSeconds` is the deadline of calls to the checkpoint service that move no data.
inline constexpr double kCallSeconds = 30;

class ClientCore {
 public:
  ClientCore(ClientOptions options, common::ProcessIdentity self, std::shared_ptr<grpc::Channel> channel)
      : options_(std::move(options)), self_(self), channel_(std::move(channel), options_.socket) {}

  // Makes a call to the checkpoint service in which one attempt takes at most `seconds`. If the service is away, the
  // call waits as long as the options say.
  template <typename Request, typename Reply>
  absl::Status Call(ClientChannel::Method<Request, Reply> method, const Request& request, Reply* reply,
                    double seconds = kCallSeconds) {
    return channel_.Call(method, request, reply, seconds, options_.patience_seconds);
  }

  void FillOwner(int generation, v1::Owner* owner) const {
    owner->set_job_uid(options_.job_uid);
    owner->set_trainer(options_.trainer);
    owner->set_pid(self_.pid);
    owner->set_start_time_ticks(static_cast<double>(self_.start_time_ticks));
    owner->set_generation(generation);
  }

  // Tries to give the shared memory segments back to the service without waiting. It is enough to try, because the
  // service takes all of them back when this process ends.
  void Release(int generation, const std::vector<std::string>& segments) {
    if (segments.empty()) return;
    v1::ReleaseRequest request;
    FillOwner(generation, request.mutable_owner());
    request.mutable_segments()->Assign(segments.begin(), segments.end());
    v1::ReleaseReply reply;
    channel_.Call(&CheckpointsStub::Release, request, &reply, /*seconds=*/1, /*patience=*/0).IgnoreError();
  }

  const ClientOptions& options() const { return options_; }
  ClientChannel& channel() { return channel_; }

  // Returns the mappings of the shared memory segments to which snapshots are copied.
  KeptMappings& mappings() { return mappings_; }

  // Returns whether a state had more exceptions (planes.h) than fit the memory that is usually reserved for them. From
  // then on, memory for the highest possible number of exceptions is reserved.
  bool full_room() const { return full_room_; }
  void SetFullRoom() { full_room_ = true; }

 private:
  const ClientOptions options_;
  const common::ProcessIdentity self_;
  ClientChannel channel_;
  std::atomic<bool> full_room_{false};
  KeptMappings mappings_{common::SharedMemory::Access::kReadWrite};
};

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_CLIENT_CLIENT_CORE_H_
