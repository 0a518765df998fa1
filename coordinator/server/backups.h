// Serves Coordinator.Backup: the state as it is now, as a backup file in chunks. The loop goes on meanwhile.
#ifndef REKINDLE_COORDINATOR_SERVER_BACKUPS_H_
#define REKINDLE_COORDINATOR_SERVER_BACKUPS_H_

#include <grpcpp/grpcpp.h>

#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "rekindle/v1/coordinator.pb.h"

namespace rekindle::coordinator {

class BackupCall;

// One backup at a time: on a thread of its own, from a copy in the data folder that has no name once it is whole. The
// copy goes when the call ends, however it does. Thread-safe.
class Backups {
 public:
  struct Options {
    std::string database;         // Empty: the state is in no file, and cannot be copied.
    std::string copy;             // Where the copy is made: a path on the same disk, nobody else's.
    double stalled_seconds = 60;  // A caller that takes no chunk for so long is given up.
  };

  // Removes what a process that died has left at `copy`.
  explicit Backups(Options options);
  ~Backups() { Stop(); }
  Backups(const Backups&) = delete;

  // Ends with FAILED_PRECONDITION while another backup is being made, UNAVAILABLE after Stop, and the errors of
  // CopyDatabase.
  grpc::ServerWriteReactor<v1::BackupChunk>* Start(grpc::CallbackServerContext* context);
  // Ends the running one. Idempotent.
  void Stop();

 private:
  absl::Status Begin(BackupCall* call);
  void Serve(BackupCall* call);
  absl::Status Send(BackupCall* call);

  const Options options_;
  std::mutex mutex_;
  bool stopped_ = false;
  double began_ = 0;               // The running one, of the steady clock.
  BackupCall* running_ = nullptr;  // Valid while it is set.
  std::thread thread_;
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_BACKUPS_H_
