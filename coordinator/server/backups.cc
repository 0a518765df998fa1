#include "coordinator/server/backups.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/log.h"
#include "common/rpc.h"
#include "common/version.h"
#include "coordinator/backup_file.h"
#include "coordinator/database_copy.h"
#include "coordinator/server/backup_call.h"

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
  std::lock_guard lock(mutex_);
  if (stopped_) return Stopping();
  if (options_.database.empty()) return absl::FailedPreconditionError("the state of this coordinator is in no file");
  if (running_ != nullptr) {
    const auto seconds = static_cast<int64_t>(common::SteadySeconds() - began_);
    return absl::FailedPreconditionError(
        absl::StrCat("another backup is being made, since ", seconds, " s: try again when it is done"));
  }
  if (thread_.joinable()) thread_.join();  // That of the one before, which has nothing left to do.
  running_ = call;
  began_ = common::SteadySeconds();
  thread_ = std::thread([this, call] { Serve(call); });
  return absl::OkStatus();
}

void Backups::Serve(BackupCall* call) {
  absl::Status sent = Send(call);
  if (sent.ok()) {
    log::Info("a backup was made", {{"seconds", common::SteadySeconds() - began_}});
  } else {
    log::Warning("a backup was not made", {{"error", std::string(sent.message())}});
  }
  {
    std::lock_guard lock(mutex_);
    running_ = nullptr;  // First: who hears of its end may ask for the next one.
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
  *call->data() = BackupPreamble({.identity = *identity,
                                  .taken_at = taken_at,
                                  .release = common::kVersion,
                                  .schema = copy->schema,
                                  .needs_release = copy->needs_release,
                                  .bytes = copy->bytes,
                                  .xxh3_128 = copy->xxh3_128});
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
  return absl::OkStatus();
}

void Backups::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    if (running_ != nullptr) running_->End();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace rekindle::coordinator
