#include "coordinator/logs/log_feed.h"

#include <algorithm>
#include <utility>

#include "coordinator/core/state/text.h"

namespace rekindle::coordinator {
namespace {

// A reader that continues where its earlier call ended is told only of lost trainers whose newest line is at most
// `kRecentSeconds` seconds old. The earlier call has told it of the others.
constexpr double kRecentSeconds = 300;

// Returns whether the lines that the trainer has written since its last kept line are lost, because its node or the
// node's folder is gone.
bool IsLost(const std::string& name, const JobLog::Trainer& trainer, const LogNodes& nodes) {
  const auto node = nodes.find(core::NodeOf(name));
  return node == nodes.end() || node->second.is_lost || node->second.incarnation != trainer.incarnation;
}

v1::LogLine LostLine(const std::string& name, const JobLog::Trainer& trainer) {
  v1::LogLine line;
  line.set_trainer(name);
  line.mutable_gap()->set_reason(v1::LogGap::LOST_WITH_NODE);
  line.mutable_gap()->set_after(trainer.at);
  return line;
}

}  // namespace

LogFeed::LogFeed(std::string job_uid, const v1::ReadLogRequest& request)
    : job_uid_(std::move(job_uid)), request_(request) {}

void LogFeed::Begin(JobLog& log, const Facts& facts) {
  begun_ = true;
  if (request_.log().empty()) {
    if (request_.tail() > 0) log.SeekTail(request_.tail(), &cursor_);
    return;
  }
  cursor_.log = request_.log();
  // A double holds whole numbers below `kMost` exactly.
  constexpr double kMost = 9e15;
  const bool is_past_first = request_.after() > 0;
  cursor_.after = is_past_first ? static_cast<int64_t>(std::min(request_.after(), kMost)) : 0;
  for (const auto& [name, trainer] : log.trainers()) {
    if (!trainer.last && trainer.end > 0 && facts.wall - trainer.at < kRecentSeconds) waiting_[name] = trainer.end;
  }
}

void LogFeed::Add(LogItem item, JobLog& log, const LogNodes& nodes, v1::LogLines* lines) {
  const std::string name = item.line.trainer();
  *lines->add_lines() = std::move(item.line);
  if (name.empty()) return;
  waiting_.erase(name);
  const JobLog::Trainer* trainer = item.is_newest ? log.Find(name) : nullptr;
  if (trainer == nullptr) return;
  if (IsLost(name, *trainer, nodes)) {
    *lines->add_lines() = LostLine(name, *trainer);
  } else {
    waiting_[name] = trainer->end;
  }
}

void LogFeed::AddLost(JobLog& log, const LogNodes& nodes, v1::LogLines* lines) {
  std::erase_if(waiting_, [&](const auto& waiting) {
    const JobLog::Trainer* trainer = log.Find(waiting.first);
    if (trainer == nullptr || trainer->last || trainer->end != waiting.second) return true;
    if (!IsLost(waiting.first, *trainer, nodes)) return false;
    *lines->add_lines() = LostLine(waiting.first, *trainer);
    return true;
  });
}

bool LogFeed::IsDone(JobLog* log, const Facts& facts) {
  if (!request_.follow()) return true;
  if (!facts.is_over) return false;
  over_since_ = std::min(over_since_, facts.now);
  const double quiet = facts.now - std::max(over_since_, quiet_since_);
  if (quiet < kTrailingSeconds) return false;
  if (facts.now - over_since_ >= kLongestTrailing || log == nullptr) return true;
  const auto& trainers = log->trainers();
  return std::all_of(trainers.begin(), trainers.end(), [&](const auto& trainer) {
    return trainer.second.last || IsLost(trainer.first, trainer.second, *facts.nodes);
  });
}

LogFeed::Pulled LogFeed::Pull(LogStore& store, Bulletin& bulletin, const Facts& facts) {
  Pulled pulled;
  pulled.wait = {job_uid_, bulletin.Version(job_uid_), facts.now + kShortestInterval, facts.now + kLookAgain};
  if (quiet_since_ == kForever) quiet_since_ = facts.now;
  JobLog* const log = store.Find(job_uid_);
  bool is_all = true;
  if (log != nullptr) {
    if (!begun_) Begin(*log, facts);
    LogPage page = log->Read(&cursor_);
    for (LogItem& item : page.items) Add(std::move(item), *log, *facts.nodes, &pulled.lines);
    is_all = !page.more;
    if (is_all) AddLost(*log, *facts.nodes, &pulled.lines);
    pulled.lines.set_log(cursor_.log);
  }
  if (!pulled.lines.lines().empty()) quiet_since_ = facts.now;
  pulled.more = !is_all || !IsDone(log, facts);
  return pulled;
}

}  // namespace rekindle::coordinator
