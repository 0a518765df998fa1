#include "coordinator/logs/log_page.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "coordinator/logs/log_record.h"

namespace rekindle::coordinator {
namespace {

// An item of a page has about `kAroundText` bytes in addition to the text of its line.
constexpr size_t kAroundText = 48;

LogItem Missing(v1::LogGap::Reason reason, int64_t lines) {
  LogItem item;
  item.line.mutable_gap()->set_reason(reason);
  item.line.mutable_gap()->set_lines(static_cast<double>(lines));
  return item;
}

class PageReader {
 public:
  PageReader(const LogContents& contents, LogCursor* cursor) : contents_(contents), cursor_(cursor) {}

  LogPage Read() {
    Begin();
    for (;;) {
      // `file` is the last file of the log that begins at or before the wanted line.
      const auto file =
          std::prev(std::upper_bound(contents_.files.begin(), contents_.files.end(), cursor_->after,
                                     [](int64_t after, const auto& f) { return after < f.second.lines; }));
      if (cursor_->file != file->first) {
        cursor_->file = file->first;
        cursor_->offset = 0;
        cursor_->lines = file->second.lines;
      }
      page_.more = !ReadFile();
      const auto next = std::next(file);
      if (page_.more || next == contents_.files.end()) return std::move(page_);
      SkipTo(next->second.lines, v1::LogGap::DAMAGED);
    }
  }

 private:
  void Begin() {
    if (!cursor_->log.empty() && cursor_->log != contents_.log) {
      page_.items.push_back(Missing(v1::LogGap::ANOTHER_LOG, 0));
      *cursor_ = {};
    }
    cursor_->log = contents_.log;
    // A power cut may have removed lines that the reader had already read, so the log may be shorter than the reader's
    // position says.
    cursor_->after = std::min(cursor_->after, contents_.lines);
    SkipTo(contents_.files.begin()->second.lines, v1::LogGap::NOT_KEPT);
  }

  // If the reader has not got the lines up to `line`, adds a note that they are missing, and moves the cursor there.
  void SkipTo(int64_t line, v1::LogGap::Reason reason) {
    if (cursor_->after >= line) return;
    page_.items.push_back(Missing(reason, line - cursor_->after));
    cursor_->after = line;
  }

  // Adds the next records of the cursor's file to the page. Returns false when the page is full.
  bool ReadFile() {
    absl::StatusOr<LogScanner> scanner = LogScanner::Open(contents_.folder.PathOf(cursor_->file), cursor_->offset);
    if (!scanner.ok()) return true;
    while (bytes_ < kLogPageBytes) {
      const std::optional<v1::LogRecord> record = scanner->Next();
      if (!record) return true;
      cursor_->offset = scanner->offset();
      if (!record->has_head()) AddPiece(*record);
    }
    return false;
  }

  void AddPiece(const v1::LogRecord& record) {
    const v1::LogPiece& piece = record.piece();
    const size_t before = page_.items.size();
    if (piece.gone() > 0 && cursor_->lines >= cursor_->after) {
      LogItem& item = page_.items.emplace_back();
      item.line.set_trainer(piece.trainer());
      item.line.mutable_gap()->set_reason(v1::LogGap::NOT_KEPT_BY_NODE);
      item.line.mutable_gap()->set_bytes(static_cast<double>(piece.gone()));
      bytes_ += piece.trainer().size() + kAroundText;
    }
    for (const std::string& text : piece.lines()) {
      if (++cursor_->lines <= cursor_->after) continue;
      LogItem& item = page_.items.emplace_back();
      item.line.set_trainer(piece.trainer());
      item.line.set_text(text);
      item.line.set_number(static_cast<double>(cursor_->lines));
      item.line.set_at(record.at());
      bytes_ += text.size() + piece.trainer().size() + kAroundText;
      cursor_->after = cursor_->lines;
    }
    if (page_.items.size() > before) page_.items.back().is_newest = contents_.is_newest(piece);
  }

  const LogContents& contents_;
  LogCursor* const cursor_;
  LogPage page_;
  size_t bytes_ = 0;
};

}  // namespace

LogPage ReadLogPage(const LogContents& contents, LogCursor* cursor) { return PageReader(contents, cursor).Read(); }

}  // namespace rekindle::coordinator
