#include "coordinator/server/services/backups.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/agreed/version.h"
#include "common/files/file.h"
#include "common/log/log.h"
#include "common/rpc/rpc.h"
#include "common/sync/mutex.h"
#include "common/time/clock.h"
#include "coordinator/restoring/backup_file.h"
#include "coordinator/server/services/backup_call.h"
#include "coordinator/store/database_copy.h"

namespace rekindle::coordinator {
namespace {

constexpr size_t kChunkBytes = 1 << 20;

absl::Status Stopping() { return absl::UnavailableError("the coordinator is stopping: try again"); }

}  // namespace

Backups::Backups(Options options) : options_(std::move(options)) { RemoveUnfinishedCopy(options_.copy); }

grpc::ServerWriteReactor<v1::BackupChunk>* Backups::Start(grpc::CallbackServerContext* context) {
  auto* call = new BackupCall(context, options_.stalled_seconds);
  if (absl::Status begun = Begin(call); !begun.ok()) call->Finish(common::StatusToGrpc(begun));
  return call;
}

absl::Status Backups::Begin(BackupCall* call) {
  const common::MutexLock lock(mutex_);
  if (stopped_) return Stopping();
  if (options_.database.empty()) return absl::FailedPreconditionError("the state of this coordinator is in no file");
  if (running_ != nullptr) {
    const auto seconds = static_cast<int64_t>(common::SteadySeconds() - began_);
    return absl::FailedPreconditionError(
        absl::StrCat("another backup is being made, since ", seconds, " s: try again when it is done"));
  }
  // The thread of the previous backup has nothing left to do, so the join returns at once.
  if (thread_.joinable()) thread_.join();
  running_ = call;
  began_ = common::SteadySeconds();
  thread_ = std::thread([this, call, began = began_] { Serve(call, began); });
  return absl::OkStatus();
}

void Backups::Serve(BackupCall* call, double began) {
  absl::Status sent = Send(call);
  if (sent.ok()) {
    log::Info("a backup was made", {{"seconds", common::SteadySeconds() - began}});
  } else {
    log::Warning("a backup was not made", {{"error", std::string(sent.message())}});
  }
  {
    const common::MutexLock lock(mutex_);
    // `running_`, the call whose backup runs, is set to null before Finish: a caller that sees its backup end may at
    // once ask for another one.
    running_ = nullptr;
    if (stopped_ && !sent.ok()) sent = Stopping();
  }
  call->Finish(common::StatusToGrpc(sent));
}

absl::Status Backups::Send(BackupCall* call) {
  const auto taken_at = static_cast<int64_t>(common::WallSeconds());
  const absl::StatusOr<DatabaseCopy> copy =
      CopyDatabase(options_.database, options_.copy, {.cancelled = [call] { return call->ended(); }});
  if (!copy.ok()) return copy.status();
  const absl::StatusOr<common::ClusterIdentity> identity = common::ParseClusterIdentity(copy->identity);
  if (!identity.ok()) return absl::DataLossError("the state store does not say of which cluster it is");
  // The bundles that a job in the copy names were there before the job.
  std::shared_ptr<const std::set<std::string>> bundles = std::make_shared<std::set<std::string>>();
  if (options_.bundles != nullptr) bundles = options_.bundles->Hold();
  *call->data() = BackupPreamble({.identity = *identity,
                                  .taken_at = taken_at,
                                  .release = common::kVersion,
                                  .schema = copy->schema,
                                  .needs_release = copy->needs_release,
                                  .bytes = copy->bytes,
                                  .xxh3_128 = copy->xxh3_128,
                                  .bundles = static_cast<int>(bundles->size())});
  if (absl::Status written = call->Write(); !written.ok()) return written;
  for (int64_t at = 0; at < copy->bytes;) {
    call->data()->resize(static_cast<size_t>(std::min<int64_t>(kChunkBytes, copy->bytes - at)));
    const ssize_t got = pread(copy->file.get(), call->data()->data(), call->data()->size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return common::ErrnoStatus(got < 0 ? errno : EIO, "cannot read", "the copy of the state");
    call->data()->resize(static_cast<size_t>(got));
    if (absl::Status written = call->Write(); !written.ok()) return written;
    at += got;
  }
  for (const std::string& address : *bundles) {
    if (absl::Status sent = SendBundle(call, address); !sent.ok()) return sent;
  }
  return absl::OkStatus();
}

absl::Status Backups::SendBundle(BackupCall* call, const std::string& address) const {
  const auto file = common::PosixFileSystem()->Open(options_.bundles->PathOf(address));
  if (!file.ok()) return file.status();
  const absl::StatusOr<int64_t> bytes = (*file)->Size();
  if (!bytes.ok()) return bytes.status();
  *call->data() = BundleLine(address, *bytes);
  if (absl::Status written = call->Write(); !written.ok()) return written;
  for (int64_t at = 0; at < *bytes;) {
    call->data()->resize(static_cast<size_t>(std::min<int64_t>(kChunkBytes, *bytes - at)));
    const absl::StatusOr<size_t> got = (*file)->ReadAt(at, call->data()->data(), call->data()->size());
    if (!got.ok()) return got.status();
    if (*got == 0) return absl::DataLossError("a bundle became shorter while it was read");
    call->data()->resize(*got);
    if (absl::Status written = call->Write(); !written.ok()) return written;
    at += static_cast<int64_t>(*got);
  }
  return absl::OkStatus();
}

void Backups::Stop() {
  std::thread last;
  {
    const common::MutexLock lock(mutex_);
    stopped_ = true;
    if (running_ != nullptr) running_->End();
    last = std::move(thread_);
  }
  if (last.joinable()) last.join();
}

}  // namespace rekindle::coordinator
