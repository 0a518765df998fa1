#include "worker/agent/logs/log_backlog.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/log/log.h"
#include "worker/agent/folder/small_file.h"

namespace rekindle::agent {
namespace {

// A report of log lines has at most `kMaxPieces` pieces.
constexpr int kMaxPieces = 256;
// Processes that a trainer left behind may write to its log for `kLateSeconds` after its end.
constexpr double kLateSeconds = 10;
// `kFirstPause` is the first pause before a coordinator that does not take a log is asked about it again.
constexpr double kFirstPause = 1;
// The pauses between two questions to the coordinator about a log grow up to `kLongestPause`.
constexpr double kLongestPause = 60;
constexpr int64_t kFreeStep = 1 << 20;

}  // namespace

void LogBacklog::Add(LogFile file) {
  const std::string trainer = file.owner().trainer;
  logs_.try_emplace(trainer, Log{.file = std::move(file)});
}

void LogBacklog::Recall() {
  for (const std::string& name : ListFolder(folder_)) {
    if (!absl::EndsWith(name, ".json")) continue;
    const std::string path = absl::StrCat(folder_, "/", absl::StripSuffix(name, ".json"));
    absl::StatusOr<LogFile> file = LogFile::Open(path);
    if (!file.ok()) {
      log::Warning("the log of a trainer is left alone", {{"why", std::string(file.status().message())}});
      continue;
    }
    const std::string trainer = file->owner().trainer;
    Add(*std::move(file));
    logs_.at(trainer).has_ended = true;
  }
}

void LogBacklog::Start(const std::string& trainer, const std::string& job_uid, const std::string& path) {
  absl::StatusOr<LogFile> file = LogFile::OpenOrOwn(path, {.trainer = trainer, .job_uid = job_uid});
  // If the log file is missing, the trainer has ended, and its log was sent in full and removed.
  if (absl::IsNotFound(file.status())) return;
  if (!file.ok()) {
    log::Warning("the lines of a trainer will not be sent",
                 {{"trainer", trainer}, {"why", std::string(file.status().message())}});
    return;
  }
  Add(*std::move(file));
  Log& log = logs_.at(trainer);
  log.has_ended = log.is_settled = false;
}

void LogBacklog::End(const std::string& trainer, double now) {
  const auto found = logs_.find(trainer);
  if (found == logs_.end()) return;
  found->second.has_ended = true;
  found->second.ended_at = now;
}

void LogBacklog::Greet() {
  if (logs_.empty()) return;
  Log& log = logs_.begin()->second;
  log.kept.reset();
  log.is_settled = false;
  log.not_before = 0;
}

double LogBacklog::NextSendAt(double now) const {
  double next = std::numeric_limits<double>::infinity();
  for (const auto& [trainer, log] : logs_) {
    if (!log.is_settled) next = std::min(next, std::max(now, log.not_before));
  }
  return next;
}

bool LogBacklog::IsAllSent() const {
  return std::all_of(logs_.begin(), logs_.end(), [](const auto& entry) {
    const Log& log = entry.second;
    return !log.has_ended || log.not_welcome || (log.last_kept && log.kept && log.file.End() <= *log.kept);
  });
}

v1::LogReport LogBacklog::NextReport(double now) {
  v1::LogReport report;
  LogBudget budget;
  has_more_ = false;
  auto at = logs_.lower_bound(next_);
  for (size_t looked = 0; looked < logs_.size(); ++looked, ++at) {
    if (at == logs_.end()) at = logs_.begin();
    Log& log = at->second;
    if (log.is_settled || now < log.not_before) continue;
    if (report.pieces_size() >= kMaxPieces || budget.lines <= 0 || budget.bytes <= LogFile::kLongestLine) {
      has_more_ = true;
      // `next_` is the trainer whose log comes first in the next report.
      next_ = at->first;
      break;
    }
    if (!log.kept) {
      v1::LogPiece& question = *report.add_pieces();
      question.set_job_uid(log.file.owner().job_uid);
      question.set_trainer(log.file.owner().trainer);
      continue;
    }
    v1::LogPiece piece = log.file.Read(*log.kept, log.has_ended, &budget);
    has_more_ = has_more_ || (!piece.lines().empty() && piece.end() < log.file.End());
    const bool is_news = piece.end() > *log.kept || piece.last() != log.last_kept;
    log.is_settled = !is_news && log.last_kept && now > log.ended_at + kLateSeconds;
    if (is_news) *report.add_pieces() = std::move(piece);
  }
  return report;
}

bool LogBacklog::TakeReply(const v1::LogReport& report, const v1::LogReply& reply, double now) {
  const bool is_other = reply.process() != process_;
  // A restarted coordinator may have fewer log lines than before the restart, because it begins with an older copy of
  // them or with none.
  process_ = reply.process();
  if (is_other) {
    for (auto& [trainer, log] : logs_) {
      log.kept.reset();
      log.last_kept = log.is_settled = false;
      log.not_before = log.pause = 0;
    }
  }
  bool got_on = is_other;
  for (const v1::LogPosition& position : reply.positions()) {
    const auto found = logs_.find(position.trainer());
    if (found == logs_.end() || found->second.file.owner().job_uid != position.job_uid()) continue;
    Log& log = found->second;
    log.not_welcome = position.not_welcome();
    if (log.not_welcome) {
      log.kept.reset();
      log.pause = std::clamp(2 * log.pause, kFirstPause, kLongestPause);
      log.not_before = now + log.pause;
      continue;
    }
    const int64_t kept = std::max<int64_t>(0, position.end());
    got_on = got_on || log.kept != kept || log.last_kept != position.last();
    log.kept = kept;
    log.last_kept = position.last();
    log.not_before = log.pause = 0;
  }
  return got_on || report.pieces().empty();
}

void LogBacklog::Tidy(double wall) {
  for (auto& [trainer, log] : logs_) {
    const int64_t unsent = log.file.End() - limits_.keep_unsent;
    const int64_t sent = log.kept.value_or(0) - limits_.keep_sent;
    const int64_t free_to = std::max(unsent, sent);
    if (free_to < log.freed_to + kFreeStep) continue;
    log.file.Free(free_to, limits_.keep_sent + limits_.keep_unsent, free_blocks_);
    log.freed_to = free_to;
  }
  RemoveEnded(/*sent=*/true, limits_.ended_logs, limits_.ended_bytes, 0);
  RemoveEnded(/*sent=*/false, limits_.unsent_logs, limits_.unsent_bytes, wall - limits_.unsent_seconds);
}

void LogBacklog::RemoveEnded(bool sent, size_t most, int64_t most_bytes, double oldest) {
  // The logs are sorted by their last write, because the newest are kept.
  std::vector<std::pair<double, std::string>> ended;
  for (const auto& [trainer, log] : logs_) {
    if (log.has_ended && log.last_kept == sent) ended.emplace_back(log.file.WrittenAt(), trainer);
  }
  std::sort(ended.rbegin(), ended.rend());
  size_t logs = 0;
  int64_t bytes = 0;
  for (const auto& [written_at, trainer] : ended) {
    const Log& log = logs_.at(trainer);
    bytes += log.file.DiskBytes();
    if (++logs <= most && bytes <= most_bytes && written_at >= oldest) continue;
    if (!sent) {
      log::Warning("a trainer's log is removed before the coordinator had all of it", {{"trainer", trainer}});
    }
    log.file.Remove();
    logs_.erase(trainer);
  }
}

}  // namespace rekindle::agent
