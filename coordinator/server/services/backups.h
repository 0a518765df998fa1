// Serves Coordinator.Backup: it streams the current state as a backup file in chunks, while the loop goes on.
#ifndef REKINDLE_COORDINATOR_SERVER_SERVICES_BACKUPS_H_
#define REKINDLE_COORDINATOR_SERVER_SERVICES_BACKUPS_H_

#include <grpcpp/grpcpp.h>

#include <string>
#include <thread>

#include "absl/status/status.h"
#include "common/sync/mutex.h"
#include "coordinator/bundles/bundle_shelf.h"
#include "rekindle/v1/coordinator.pb.h"

namespace rekindle::coordinator {

class BackupCall;

// Makes one backup at a time, on a thread of its own. It reads from a copy of the state, a file in the data folder. The
// file is unlinked once it is complete, so it disappears when the call ends, for whatever reason. This class is
// thread-safe.
class Backups {
 public:
  struct Options {
    // `database` is the path of the database with the state. It is empty if the state is in no file and cannot be
    // copied.
    std::string database;
    // `copy` is the path where the copy is made. It must be on the same disk as the database, and nobody else may use
    // it.
    std::string copy;
    // The call of a client that reads no chunk for `stalled_seconds` seconds is ended.
    double stalled_seconds = 60;
    // `bundles` has the bundles of users' code. It may be null, and the caller keeps its ownership.
    BundleShelf* bundles = nullptr;
  };

  // The constructor removes the copy of the state that a process that died may have left at the path `options.copy`.
  explicit Backups(Options options);
  ~Backups() { Stop(); }
  Backups(const Backups&) = delete;

  // Starts a backup. The call ends with FAILED_PRECONDITION while another backup is being made, with UNAVAILABLE after
  // Stop, and otherwise with the errors of CopyDatabase.
  grpc::ServerWriteReactor<v1::BackupChunk>* Start(grpc::CallbackServerContext* context);
  // Ends the running backup. Stop is idempotent.
  void Stop();

 private:
  absl::Status Begin(BackupCall* call);
  // `began` is when the backup began, in seconds of the steady clock.
  void Serve(BackupCall* call, double began);
  absl::Status Send(BackupCall* call);
  absl::Status SendBundle(BackupCall* call, const std::string& address) const;

  const Options options_;
  common::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  // `began_` is when the running backup began, in seconds of the steady clock.
  double began_ ABSL_GUARDED_BY(mutex_) = 0;
  // `running_` points to a living call while it is not null.
  BackupCall* running_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::coordinator

#endif  // REKINDLE_COORDINATOR_SERVER_SERVICES_BACKUPS_H_
