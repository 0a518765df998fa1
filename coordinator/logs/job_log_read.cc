// Implements the reading of a job's log.
#include <algorithm>
#include <utility>

#include "coordinator/logs/job_log.h"
#include "coordinator/logs/log_record.h"

namespace rekindle::coordinator {
namespace {

// A message has about `kAroundText` bytes in addition to the line.
constexpr size_t kAroundText = 48;

LogItem Missing(v1::LogGap::Reason reason, int64_t lines) {
  LogItem item;
  item.line.mutable_gap()->set_reason(reason);
  item.line.mutable_gap()->set_lines(static_cast<double>(lines));
  return item;
}

}  // namespace

void JobLog::SeekTail(int64_t lines, LogCursor* cursor) {
  Load();
  *cursor = {};
  if (files_.empty()) return;
  const int64_t after = lines_ - lines;
  // If more lines are wanted than are kept, the cursor stays at the beginning, and a note will tell how many are
  // missing.
  if (after >= files_.begin()->second.lines) cursor->after = after;
}

LogPage JobLog::Read(LogCursor* cursor) {
  Load();
  LogPage page;
  if (files_.empty()) return page;
  if (!cursor->log.empty() && cursor->log != log_) {
    page.items.push_back(Missing(v1::LogGap::ANOTHER_LOG, 0));
    *cursor = {};
  }
  cursor->log = log_;
  // A power cut may have taken lines that were read before.
  cursor->after = std::min(cursor->after, lines_);
  if (const int64_t first = files_.begin()->second.lines; cursor->after < first) {
    page.items.push_back(Missing(v1::LogGap::NOT_KEPT, first - cursor->after));
    cursor->after = first;
  }
  size_t bytes = 0;
  for (;;) {
    // `file` is the last file that begins at or before the wanted line.
    auto file = std::prev(std::upper_bound(files_.begin(), files_.end(), cursor->after,
                                           [](int64_t after, const auto& f) { return after < f.second.lines; }));
    if (cursor->file != file->first) {
      cursor->file = file->first;
      cursor->offset = 0;
      cursor->lines = file->second.lines;
    }
    if (!ReadFile(cursor, &page, &bytes)) {
      page.more = true;
      return page;
    }
    const auto next = std::next(file);
    if (next == files_.end()) return page;
    if (const int64_t missing = next->second.lines - cursor->after; missing > 0) {
      page.items.push_back(Missing(v1::LogGap::DAMAGED, missing));
      cursor->after = next->second.lines;
    }
  }
}

bool JobLog::ReadFile(LogCursor* cursor, LogPage* page, size_t* bytes) {
  absl::StatusOr<LogScanner> scanner = LogScanner::Open(Path(cursor->file), cursor->offset);
  if (!scanner.ok()) return true;
  while (*bytes < kPageBytes) {
    const std::optional<v1::LogRecord> record = scanner->Next();
    if (!record) return true;
    cursor->offset = scanner->offset();
    if (record->has_head()) continue;
    AddPiece(*record, cursor, page, bytes);
  }
  return false;
}

void JobLog::AddPiece(const v1::LogRecord& record, LogCursor* cursor, LogPage* page, size_t* bytes) {
  const v1::LogPiece& piece = record.piece();
  const size_t before = page->items.size();
  if (piece.gone() > 0 && cursor->lines >= cursor->after) {
    LogItem& item = page->items.emplace_back();
    item.line.set_trainer(piece.trainer());
    item.line.mutable_gap()->set_reason(v1::LogGap::NOT_KEPT_BY_NODE);
    item.line.mutable_gap()->set_bytes(static_cast<double>(piece.gone()));
    *bytes += piece.trainer().size() + kAroundText;
  }
  for (const std::string& text : piece.lines()) {
    if (++cursor->lines <= cursor->after) continue;
    LogItem& item = page->items.emplace_back();
    item.line.set_trainer(piece.trainer());
    item.line.set_text(text);
    item.line.set_number(static_cast<double>(cursor->lines));
    item.line.set_at(record.at());
    *bytes += text.size() + piece.trainer().size() + kAroundText;
    cursor->after = cursor->lines;
  }
  if (page->items.size() == before) return;
  const auto trainer = trainers_.find(piece.trainer());
  page->items.back().is_newest =
      trainer != trainers_.end() && trainer->second.end == piece.end() && !trainer->second.last;
}

}  // namespace rekindle::coordinator
