#include "coordinator/server/boards/job_file_book.h"

#include <utility>

#include "common/digest/hash.h"
#include "common/log/log.h"
#include "common/sync/mutex.h"
#include "coordinator/core/record/job_json.h"
#include "coordinator/server/boards/job_board.h"

namespace rekindle::coordinator {
namespace {

absl::StatusOr<JobFileBook::File> Make(const v1::JobRecord& record, const common::ClusterIdentity& by, double at) {
  v1::ClusterIdentity identity;
  common::ToMessage(by, &identity);
  const v1::JobFile file = core::MakeJobFile(record, identity, at);
  absl::StatusOr<std::string> text = core::EncodeJobFile(file);
  if (!text.ok()) return text.status();
  std::string digest = common::Xxh3_128Hex(*text);
  return JobFileBook::File{*std::move(text), std::move(digest), file.over()};
}

}  // namespace

void JobFileBook::SetIdentity(const common::ClusterIdentity& identity) {
  const common::MutexLock lock(mutex_);
  identity_ = identity;
}

JobFileBook::JobFileBook(const common::ClusterIdentity& identity) : identity_(identity) {}

void JobFileBook::Set(const v1::JobRecord& record, double unix_now) {
  const std::string& uid = record.job().uid();
  const bool over = IsOver(record.job());
  const bool has_begun = record.membership().generation() > 0 || record.store_generation() > 0;
  // A job that has not begun has no rank that could ask for its file. Thousands of such jobs may wait, so they get no
  // entries.
  if (!has_begun && !over) return;
  const common::MutexLock lock(mutex_);
  const auto known = entries_.find(uid);
  if (known != entries_.end()) {
    const v1::JobRecord& before = *known->second.record;
    const bool same = before.job().status().state() == record.job().status().state() &&
                      before.membership().generation() == record.membership().generation();
    const bool same_secret = before.secret() == record.secret();
    if (same && same_secret && unix_now < known->second.at + kRenewSeconds) return;
    // A job that has failed may have been resumed.
    if (!over && IsOver(before.job())) std::erase(over_, uid);
    // The file of a finished job does not change any more, so the record that the book has is good enough.
    if (over && same_secret && IsOver(before.job())) return;
  } else if (over && record.job().status().finished_at() < unix_now - kOverSeconds) {
    return;
  }
  Entry& entry = entries_[uid];
  entry = {.record = std::make_shared<const v1::JobRecord>(record), .at = unix_now, .told = entry.told};
  if (!over) return;
  over_.push_back(uid);
  if (over_.size() <= kMaxOver) return;
  entries_.erase(over_.front());
  over_.pop_front();
}

void JobFileBook::Forget(const std::string& job_uid) {
  const common::MutexLock lock(mutex_);
  entries_.erase(job_uid);
  std::erase(over_, job_uid);
}

std::shared_ptr<const JobFileBook::File> JobFileBook::Newest(const std::string& job_uid,
                                                             const std::string& job_secret) {
  std::shared_ptr<const v1::JobRecord> record;
  common::ClusterIdentity identity;
  double at = 0;
  {
    const common::MutexLock lock(mutex_);
    identity = identity_;
    const auto found = entries_.find(job_uid);
    if (found == entries_.end() || found->second.record->secret() != job_secret) return nullptr;
    if (found->second.made) return found->second.file;
    record = found->second.record;
    at = found->second.at;
  }
  absl::StatusOr<File> made = Make(*record, identity, at);
  const absl::Status status = made.status();
  const auto file = made.ok() ? std::make_shared<const File>(*std::move(made)) : nullptr;
  const common::MutexLock lock(mutex_);
  const auto found = entries_.find(job_uid);
  if (found == entries_.end() || found->second.record != record) return file;
  found->second.made = true;
  found->second.file = file;
  if (!status.ok() && !std::exchange(found->second.told, true)) {
    log::Warning("no file for a job's store", {{"error", std::string(status.message())}});
  }
  return file;
}

}  // namespace rekindle::coordinator
