#include "coordinator/logs/job_log.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "common/digest/random_bytes.h"
#include "common/log/log.h"
#include "coordinator/logs/log_record.h"

namespace rekindle::coordinator {
namespace {

constexpr int kFormat = 1;
// The bytes of a job's log are spread over `kFilesOfALog` files, so that little is lost when the oldest file is
// removed.
constexpr int64_t kFilesOfALog = 8;
constexpr int64_t kSmallestFile = 64 << 10;
constexpr int64_t kLargestFile = 8 << 20;
constexpr size_t kIdBytes = 8;

}  // namespace

JobLog::JobLog(std::string folder, std::string uid, Options options)
    : folder_(std::move(folder)), uid_(std::move(uid)), options_(std::move(options)) {
  LogFolder::Listed listed = folder_.List();
  files_ = std::move(listed.files);
  next_file_ = listed.next_file;
  for (const auto& [number, file] : files_) bytes_ += file.bytes;
}

std::optional<v1::LogRecord> JobLog::ReadHead(int64_t file) const {
  absl::StatusOr<LogScanner> scanner = LogScanner::Open(folder_.PathOf(file), 0);
  if (!scanner.ok()) return std::nullopt;
  std::optional<v1::LogRecord> record = scanner->Next();
  const bool is_ours = record && record->head().format() == kFormat && record->head().job_uid() == uid_;
  return is_ours ? std::move(record) : std::nullopt;
}

void JobLog::Load() {
  if (loaded_) return;
  loaded_ = true;
  std::vector<int64_t> others;
  // The head of the newest file says which log the folder has. Files of another log are ignored.
  for (auto at = files_.rbegin(); at != files_.rend(); ++at) {
    const std::optional<v1::LogRecord> head = ReadHead(at->first);
    if (log_.empty() && head) log_ = head->head().log();
    if (head && head->head().log() == log_) {
      at->second.lines = head->head().lines();
    } else {
      others.push_back(at->first);
    }
  }
  for (const int64_t file : others) {
    log::Warning("ignoring a file among a job's logs: it is another's, or its beginning is damaged",
                 {{"file", folder_.PathOf(file)}});
    bytes_ -= files_.at(file).bytes;
    files_.erase(file);
  }
  if (!files_.empty()) ReplayNewest();
}

void JobLog::ReplayNewest() {
  const int64_t number = files_.rbegin()->first;
  LogFile& file = files_.rbegin()->second;
  absl::StatusOr<LogScanner> scanner = LogScanner::Open(folder_.PathOf(number), 0);
  if (!scanner.ok()) return;
  lines_ = file.lines;
  file.is_bare = true;
  while (const std::optional<v1::LogRecord> record = scanner->Next()) {
    for (const v1::LogTrainer& trainer : record->head().trainers()) {
      trainers_[trainer.trainer()] = {trainer.incarnation(), trainer.end(), trainer.last(), trainer.at()};
    }
    if (record->has_head()) {
      head_bytes_ = scanner->offset();
      continue;
    }
    Take(record->piece(), record->incarnation(), record->at());
    file.at = record->at();
    file.is_bare = false;
  }
  if (scanner->offset() < file.bytes) {
    log::Warning("the end of a job's log is torn, and cut off: nodes send again what they still have of it",
                 {{"file", folder_.PathOf(number)}, {"bytes", file.bytes - scanner->offset()}});
  }
  bytes_ += scanner->offset() - file.bytes;
  file.bytes = scanner->offset();
}

void JobLog::Reopen() {
  absl::StatusOr<LogSegment> newest =
      LogSegment::Reopen(folder_.PathOf(files_.rbegin()->first), files_.rbegin()->second.bytes, options_.write);
  if (newest.ok()) {
    newest_ = *std::move(newest);
  } else {
    log::Warning("a job's log goes on in a new file", {{"error", std::string(newest.status().message())}});
  }
}

void JobLog::Unload() {
  loaded_ = false;
  log_.clear();
  lines_ = 0;
  trainers_.clear();
  newest_.reset();
}

void JobLog::Take(const v1::LogPiece& piece, const std::string& incarnation, double at) {
  Trainer& trainer = trainers_[piece.trainer()];
  trainer = {incarnation, piece.end(), piece.last(), at};
  lines_ += piece.lines_size();
}

v1::LogRecord JobLog::MakeHead(double at) const {
  v1::LogRecord record;
  record.set_at(at);
  v1::LogHead& head = *record.mutable_head();
  head.set_format(kFormat);
  head.set_job_uid(uid_);
  head.set_log(log_);
  head.set_lines(lines_);
  for (const auto& [name, trainer] : trainers_) {
    v1::LogTrainer& added = *head.add_trainers();
    added.set_trainer(name);
    added.set_incarnation(trainer.incarnation);
    added.set_end(trainer.end);
    added.set_last(trainer.last);
    added.set_at(trainer.at);
  }
  return record;
}

absl::Status JobLog::BeginFile(double at) {
  if (absl::Status made = folder_.Make(); !made.ok()) return made;
  if (newest_) {
    // Only the newest file is checked for damage before it is shown. So a file is synced before the next one begins.
    const absl::Status synced = newest_->Sync();
    if (!synced.ok()) log::Warning("a job's log is not safe", {{"error", std::string(synced.message())}});
  }
  if (log_.empty()) log_ = absl::BytesToHexString(common::RandomBytes(kIdBytes));
  absl::StatusOr<LogSegment> begun = LogSegment::Create(folder_.PathOf(next_file_), MakeHead(at), options_.write);
  if (!begun.ok()) return begun.status();
  files_[next_file_] = {.bytes = begun->bytes(), .at = at, .lines = lines_, .is_bare = true};
  bytes_ += begun->bytes();
  head_bytes_ = begun->bytes();
  newest_ = *std::move(begun);
  ++next_file_;
  return absl::OkStatus();
}

absl::Status JobLog::MakeRoom(int64_t bytes, double at) {
  const int64_t file_bytes = std::clamp(options_.bytes / kFilesOfALog, kSmallestFile, kLargestFile);
  if (!newest_ && !files_.empty()) Reopen();
  const int64_t records_bytes = newest_ ? newest_->bytes() - head_bytes_ : 0;
  // A record that is larger than `file_bytes` has a file of its own.
  if (!newest_ || (records_bytes > 0 && records_bytes + bytes > file_bytes)) {
    if (absl::Status begun = BeginFile(at); !begun.ok()) return begun;
  }
  while (files_.size() > 1 && bytes_ + bytes > options_.bytes) Remove(files_.begin()->first);
  return absl::OkStatus();
}

absl::Status JobLog::Append(const v1::LogPiece& piece, const std::string& incarnation, double at) {
  Load();
  const auto known = trainers_.find(piece.trainer());
  const Trainer before = known == trainers_.end() ? Trainer() : known->second;
  const bool is_next = piece.begin() - piece.gone() <= before.end && before.end <= piece.begin();
  const bool is_news = piece.end() > before.end || piece.last() != before.last;
  if (!is_next || !is_news || (piece.end() == before.end && !piece.last())) return absl::OkStatus();
  v1::LogRecord record;
  record.set_at(at);
  record.set_incarnation(incarnation);
  *record.mutable_piece() = piece;
  record.mutable_piece()->set_gone(piece.begin() - before.end);
  const std::string framed = FrameLogRecord(record);
  if (absl::Status room = MakeRoom(static_cast<int64_t>(framed.size()), at); !room.ok()) return room;
  if (absl::Status added = newest_->Append(framed); !added.ok()) return added;
  LogFile& file = files_.rbegin()->second;
  bytes_ += newest_->bytes() - file.bytes;
  file.bytes = newest_->bytes();
  file.at = at;
  file.is_bare = false;
  Take(record.piece(), incarnation, at);
  if (trainers_.size() > kMaxTrainers) ForgetTrainers();
  return absl::OkStatus();
}

void JobLog::ForgetTrainers() {
  const auto forgotten = std::min_element(trainers_.begin(), trainers_.end(), [](const auto& a, const auto& b) {
    return std::pair(!a.second.last, a.second.at) < std::pair(!b.second.last, b.second.at);
  });
  trainers_.erase(forgotten);
}

const JobLog::Trainer* JobLog::Find(const std::string& trainer) {
  Load();
  const auto found = trainers_.find(trainer);
  return found == trainers_.end() ? nullptr : &found->second;
}

const std::map<std::string, JobLog::Trainer>& JobLog::trainers() {
  Load();
  return trainers_;
}

std::optional<double> JobLog::OldestAt() const {
  if (files_.empty() || (files_.size() == 1 && files_.begin()->second.is_bare)) return std::nullopt;
  return files_.begin()->second.at;
}

void JobLog::RemoveOldest() {
  Load();
  if (!OldestAt()) return;
  const double at = files_.begin()->second.at;
  const bool is_newest = files_.size() == 1;
  if (is_newest) newest_.reset();
  Remove(files_.begin()->first);
  if (!is_newest) return;
  const absl::Status begun = BeginFile(at);
  if (!begun.ok()) log::Warning("where a job's log stands cannot be kept", {{"error", std::string(begun.message())}});
}

void JobLog::Remove(int64_t file) {
  if (const absl::Status removed = folder_.Remove(file); !removed.ok()) {
    log::Warning("a job's log cannot be removed", {{"error", std::string(removed.message())}});
  }
  bytes_ -= files_.at(file).bytes;
  files_.erase(file);
}

absl::Status JobLog::RemoveAll() {
  Unload();
  files_.clear();
  bytes_ = 0;
  return folder_.RemoveAll();
}

void JobLog::SeekTail(int64_t lines, LogCursor* cursor) {
  Load();
  *cursor = {};
  if (files_.empty()) return;
  const int64_t after = lines_ - lines;
  // If the reader wants more lines than are kept, the cursor stays at the beginning, and a note will tell how many
  // lines are missing.
  if (after >= files_.begin()->second.lines) cursor->after = after;
}

LogPage JobLog::Read(LogCursor* cursor) {
  Load();
  if (files_.empty()) return {};
  const auto is_newest = [this](const v1::LogPiece& piece) {
    const auto trainer = trainers_.find(piece.trainer());
    return trainer != trainers_.end() && trainer->second.end == piece.end() && !trainer->second.last;
  };
  return ReadLogPage({folder_, files_, log_, lines_, is_newest}, cursor);
}

}  // namespace rekindle::coordinator
