// One call of Coordinator.Backup.
#ifndef REKINDLE_COORDINATOR_SERVER_BACKUP_CALL_H_
#define REKINDLE_COORDINATOR_SERVER_BACKUP_CALL_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "rekindle/v1/coordinator.pb.h"

namespace rekindle::coordinator {

// The answer of one call, written by a thread that waits for each chunk to be taken. Deletes itself when the call is
// over; whoever has called Finish must not touch it again.
class BackupCall final : public grpc::ServerWriteReactor<v1::BackupChunk> {
 public:
  BackupCall(grpc::CallbackServerContext* context, double stalled_seconds)
      : context_(context), stalled_(stalled_seconds) {}

  // Nobody waits for the rest.
  bool ended() {
    std::lock_guard lock(mutex_);
    return ended_;
  }

  // The next bytes go here. REQUIRES, as does Write: no write is in flight.
  std::string* data() { return chunk_.mutable_data(); }

  // Sends `data()`. CANCELLED: the caller is gone, takes nothing, or the coordinator stops.
  absl::Status Write() {
    std::unique_lock lock(mutex_);
    if (ended_) return Ended();
    writing_ = true;
    lock.unlock();
    StartWrite(&chunk_);
    lock.lock();
    const auto written = [this] { return !writing_; };
    if (!written_.wait_for(lock, std::chrono::duration<double>(stalled_), written)) {
      lock.unlock();
      End();
      lock.lock();
      written_.wait(lock, written);  // A cancelled call fails its writes.
    }
    return ended_ ? Ended() : absl::OkStatus();
  }

  // From another thread than that which writes, or by it after a stall.
  void End() {
    bool writing = false;
    {
      std::lock_guard lock(mutex_);
      ended_ = true;
      writing = writing_;
    }
    if (writing) context_->TryCancel();
  }

  void OnWriteDone(bool ok) override {
    std::lock_guard lock(mutex_);
    ended_ = ended_ || !ok;
    writing_ = false;
    written_.notify_all();
  }
  void OnCancel() override {
    std::lock_guard lock(mutex_);
    ended_ = true;
  }
  void OnDone() override { delete this; }

 private:
  ~BackupCall() override = default;
  static absl::Status Ended() { return absl::CancelledError("nobody takes the backup any more"); }

  grpc::CallbackServerContext* const context_;
  const double stalled_;
  v1::BackupChunk chunk_;
  std::mutex mutex_;
  std::condition_variable written_;
  bool writing_ = false;
  bool ended_ = false;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_BACKUP_CALL_H_
