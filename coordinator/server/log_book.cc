#include "coordinator/server/log_book.h"

#include <algorithm>

#include "coordinator/core/text.h"

namespace rekindle::coordinator {

void LogBook::Append(const v1::LogChunk& chunk) {
  if (chunk.lines_size() == 0) return;
  Book& book = books_[chunk.job_uid()];
  book.touched = ++clock_;
  for (const std::string& text : chunk.lines()) {
    v1::LogLine& line = book.lines.emplace_back();
    line.set_trainer(chunk.trainer());
    line.set_text(core::Bounded(text, kLineBytes));
    book.bytes += line.text().size() + line.trainer().size();
    while (book.lines.size() > kLines || (book.bytes > kJobBytes && book.lines.size() > 1)) {
      book.bytes -= book.lines.front().text().size() + book.lines.front().trainer().size();
      book.lines.pop_front();
      ++book.first;
    }
  }
  if (books_.size() > kJobs) DropOldest();
}

void LogBook::DropOldest() {
  books_.erase(std::min_element(books_.begin(), books_.end(),
                                [](const auto& a, const auto& b) { return a.second.touched < b.second.touched; }));
}

LogBook::Page LogBook::Read(const std::string& job_uid, int64_t from, size_t limit) const {
  const auto found = books_.find(job_uid);
  if (found == books_.end()) return {{}, from};
  const Book& book = found->second;
  const int64_t end = book.first + static_cast<int64_t>(book.lines.size());
  Page page;
  page.next = std::clamp(from, book.first, end);
  while (page.next < end && page.lines.size() < limit) page.lines.push_back(book.lines[page.next++ - book.first]);
  return page;
}

int64_t LogBook::Tail(const std::string& job_uid, int64_t lines) const {
  const auto found = books_.find(job_uid);
  if (found == books_.end()) return 0;
  const int64_t end = found->second.first + static_cast<int64_t>(found->second.lines.size());
  return std::max(found->second.first, end - lines);
}

}  // namespace rekindle::coordinator
