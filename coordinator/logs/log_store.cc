#include "coordinator/logs/log_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/files/file.h"
#include "common/log/log.h"

namespace rekindle::coordinator {
namespace {

constexpr size_t kMaxUidBytes = 128;
constexpr size_t kMaxTrainerBytes = 256;
constexpr double kComplainSeconds = 60;
// All logs together may have `kOnFullDisk` bytes even on a disk that is nearly full.
constexpr int64_t kOnFullDisk = 64 << 20;

// Returns whether the name has the form of a job's uid, so that it can be the name of a folder.
bool IsUid(const std::string& name) {
  const bool fits = !name.empty() && name.size() <= kMaxUidBytes && name[0] != '.';
  return fits && std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
         });
}

bool IsTrainer(const std::string& name) {
  return !name.empty() && name.size() <= kMaxTrainerBytes && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isgraph(static_cast<unsigned char>(c));
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<LogStore>> LogStore::Open(Options options) {
  if (!options.write) options.write = [](int fd, const void* data, size_t bytes) { return write(fd, data, bytes); };
  options.job_bytes = std::min(options.job_bytes, options.total_bytes);
  std::unique_ptr<LogStore> self(new LogStore(std::move(options)));
  const std::string& folder = self->options_.folder;
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return common::ErrnoStatus(errno, "cannot make", folder);
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code unknown;
    if (IsUid(name) && at->symlink_status(unknown).type() == std::filesystem::file_type::directory) {
      self->Count(name, self->At(name));
    }
  }
  if (error) return absl::InternalError(absl::StrCat("cannot list ", folder, ": ", error.message()));
  self->MakeRoom(self->bytes_);
  return self;
}

absl::Status LogStore::Check(const v1::LogPiece& piece) {
  if (!IsUid(piece.job_uid()) || !IsTrainer(piece.trainer())) {
    return absl::InvalidArgumentError("malformed piece of a log: it names no job and trainer");
  }
  constexpr int64_t kMostBytes = int64_t{1} << 60;
  const bool fits = piece.gone() >= 0 && piece.gone() <= piece.begin() && piece.begin() <= piece.end() &&
                    piece.end() <= kMostBytes && (piece.lines().empty() || piece.begin() < piece.end());
  if (!fits) return absl::InvalidArgumentError("malformed piece of a log: its positions do not fit each other");
  size_t bytes = 0;
  bool is_long = piece.lines_size() > kMaxPieceLines;
  for (const std::string& line : piece.lines()) {
    bytes += line.size();
    is_long = is_long || line.size() > kMaxLineBytes;
  }
  if (!is_long && bytes <= kMaxPieceBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a piece of a log has at most ", kMaxPieceLines, " lines of ",
                                                 kMaxLineBytes, " bytes, and ", kMaxPieceBytes, " bytes together"));
}

LogStore::Entry& LogStore::At(const std::string& job_uid) {
  Entry& entry = jobs_[job_uid];
  if (entry.log != nullptr) return entry;
  entry.log = std::make_unique<JobLog>(absl::StrCat(options_.folder, "/", job_uid), job_uid,
                                       JobLog::Options{.bytes = options_.job_bytes, .write = options_.write});
  entry.recent = recent_.end();
  entry.open = open_.end();
  return entry;
}

void LogStore::Release(Entry& entry) {
  if (entry.recent != recent_.end()) recent_.erase(entry.recent);
  if (entry.open != open_.end()) open_.erase(entry.open);
  entry.recent = recent_.end();
  entry.open = open_.end();
}

void LogStore::Use(const std::string& job_uid, Entry& entry) {
  Release(entry);
  entry.recent = recent_.insert(recent_.end(), job_uid);
  entry.open = open_.insert(open_.end(), job_uid);
  if (open_.size() > kOpen) {
    Entry& left = jobs_.at(open_.front());
    left.log->Close();
    open_.pop_front();
    left.open = open_.end();
  }
  if (recent_.size() > kLoaded) {
    Entry& left = jobs_.at(recent_.front());
    left.log->Unload();
    Release(left);
  }
}

void LogStore::Count(const std::string& job_uid, Entry& entry) {
  bytes_ += entry.log->bytes() - entry.bytes;
  entry.bytes = entry.log->bytes();
  const std::optional<double> oldest_at = entry.log->OldestAt();
  if (oldest_at == entry.oldest_at) return;
  if (entry.oldest_at) oldest_.erase({*entry.oldest_at, job_uid});
  if (oldest_at) oldest_.emplace(*oldest_at, job_uid);
  entry.oldest_at = oldest_at;
}

bool LogStore::IsDiskNearlyFull() const {
  const absl::StatusOr<common::DiskSpace> space = options_.space(options_.folder);
  if (!space.ok() || space->total <= 0) return false;
  return static_cast<double>(space->free) < common::kNearlyFullShare * static_cast<double>(space->total);
}

void LogStore::MakeRoom(int64_t bytes_before) {
  int64_t most = options_.total_bytes;
  if (bytes_ > kOnFullDisk && IsDiskNearlyFull()) most = std::min(most, std::max(bytes_before, kOnFullDisk));
  while (bytes_ > most && RemoveOldest()) continue;
}

bool LogStore::RemoveOldest() {
  if (oldest_.empty()) return false;
  const std::string job_uid = oldest_.begin()->second;
  Entry& entry = jobs_.at(job_uid);
  const int64_t before = bytes_;
  Use(job_uid, entry);
  entry.log->RemoveOldest();
  Count(job_uid, entry);
  return bytes_ < before;
}

v1::LogPosition LogStore::Keep(const v1::LogPiece& piece, const std::string& incarnation) {
  v1::LogPosition position;
  position.set_job_uid(piece.job_uid());
  position.set_trainer(piece.trainer());
  const int64_t before = bytes_;
  Entry& entry = At(piece.job_uid());
  Use(piece.job_uid(), entry);
  absl::Status kept = entry.log->Append(piece, incarnation, options_.wall());
  Count(piece.job_uid(), entry);
  // If the disk is full, the oldest file of all logs makes room for the new lines, because new lines are worth more
  // than old ones.
  if (absl::IsResourceExhausted(kept) && RemoveOldest()) kept = entry.log->Append(piece, incarnation, options_.wall());
  if (!kept.ok()) Complain(kept);
  if (const JobLog::Trainer* trainer = entry.log->Find(piece.trainer()); trainer != nullptr) {
    position.set_end(trainer->end);
    position.set_last(trainer->last);
  }
  Count(piece.job_uid(), entry);
  if (bytes_ > before) MakeRoom(before);
  return position;
}

void LogStore::Complain(const absl::Status& status) {
  const double now = options_.wall();
  if (std::abs(now - complained_at_) < kComplainSeconds) return;
  complained_at_ = now;
  log::Warning("lines of trainers cannot be kept: their nodes keep them meanwhile, as long as they can",
               {{"error", std::string(status.message())}});
}

JobLog* LogStore::Find(const std::string& job_uid) {
  const auto found = jobs_.find(job_uid);
  if (found == jobs_.end()) return nullptr;
  Use(job_uid, found->second);
  return found->second.log.get();
}

void LogStore::Forget(const std::string& job_uid) {
  const auto found = jobs_.find(job_uid);
  if (found == jobs_.end()) return;
  Entry& entry = found->second;
  const absl::Status removed = entry.log->RemoveAll();
  if (!removed.ok()) {
    log::Warning("the log of a job that is forgotten is not wholly removed",
                 {{"error", std::string(removed.message())}});
  }
  Count(job_uid, entry);
  Release(entry);
  jobs_.erase(found);
}

void LogStore::ForgetAllBut(const std::set<std::string>& job_uids) {
  std::vector<std::string> others;
  for (const auto& [uid, entry] : jobs_) {
    if (!job_uids.contains(uid)) others.push_back(uid);
  }
  for (const std::string& uid : others) Forget(uid);
}

}  // namespace rekindle::coordinator
