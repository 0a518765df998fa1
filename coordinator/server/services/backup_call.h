// Holds one call of Coordinator.Backup.
#ifndef REKINDLE_COORDINATOR_SERVER_SERVICES_BACKUP_CALL_H_
#define REKINDLE_COORDINATOR_SERVER_SERVICES_BACKUP_CALL_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "common/sync/mutex.h"
#include "rekindle/v1/coordinator.pb.h"

namespace rekindle::coordinator {

// Answers one call of Backup. A thread writes the answer and waits until each chunk was taken. The object deletes
// itself when the call is over, so the caller must not touch it after Finish.
class BackupCall final : public grpc::ServerWriteReactor<v1::BackupChunk> {
 public:
  BackupCall(grpc::CallbackServerContext* context, double stalled_seconds)
      : context_(context), stalled_(stalled_seconds) {}

  // Returns whether the call has ended. If it has, nobody waits for the rest of the backup.
  bool ended() {
    const common::MutexLock lock(mutex_);
    return ended_;
  }

  // Returns the buffer for the next bytes of the backup. For this function and for Write the caller must make sure that
  // no write is in flight.
  std::string* data() { return chunk_.mutable_data(); }

  // Sends the bytes in `data()` to the client. CANCELLED means that the client is gone or does not read any more, or
  // that the coordinator stops.
  absl::Status Write() {
    common::MutexLock lock(mutex_);
    if (ended_) return Ended();
    writing_ = true;
    lock.Unlock();
    StartWrite(&chunk_);
    lock.Lock();
    const auto written = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !writing_; };
    if (!written_.WaitFor(lock, std::chrono::duration<double>(stalled_), written)) {
      lock.Unlock();
      End();
      lock.Lock();
      // End has cancelled the call of Backup. So the write that is in flight fails soon, and the wait for its end is
      // short.
      written_.Wait(lock, written);
    }
    return ended_ ? Ended() : absl::OkStatus();
  }

  // Ends the call. End is called by a thread other than the one that writes, or by the writing thread when the caller
  // has read nothing for too long.
  void End() {
    bool writing = false;
    {
      const common::MutexLock lock(mutex_);
      ended_ = true;
      writing = writing_;
    }
    if (writing) context_->TryCancel();
  }

  void OnWriteDone(bool ok) override {
    const common::MutexLock lock(mutex_);
    ended_ = ended_ || !ok;
    writing_ = false;
    written_.NotifyAll();
  }
  void OnCancel() override {
    const common::MutexLock lock(mutex_);
    ended_ = true;
  }
  void OnDone() override { delete this; }

 private:
  ~BackupCall() override = default;
  static absl::Status Ended() { return absl::CancelledError("nobody takes the backup any more"); }

  grpc::CallbackServerContext* const context_;
  const double stalled_;
  v1::BackupChunk chunk_;
  common::Mutex mutex_;
  common::CondVar written_;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_SERVICES_BACKUP_CALL_H_
