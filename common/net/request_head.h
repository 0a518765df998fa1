// Filters the head of one HTTP request on its way to cpp-httplib.
//
// cpp-httplib reads Range by std::regex, which recurses for each character, so a line of some kilobytes overflows a
// small stack. It also believes that the header `Content-Length : 50` has another name than proxies believe. So it gets
// a head only when that is whole and well formed, and without the headers to which no server here responds.
#ifndef REKINDLE_COMMON_NET_REQUEST_HEAD_H_
#define REKINDLE_COMMON_NET_REQUEST_HEAD_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace rekindle::common {

// Collects one head. It is thread-compatible.
class RequestHead {
 public:
  // Request line, headers and the empty line may have at most `most` bytes together.
  explicit RequestHead(size_t most) : most_(most) {}

  // Takes the part that belongs to the head from the front of `bytes`, and returns how many bytes that was.
  size_t Take(absl::string_view bytes);
  bool is_whole() const { return is_whole_; }
  bool is_too_long() const { return !is_whole_ && text_.size() >= most_; }
  // Reads what cpp-httplib may see of the head. Like read(2) it returns 0 at the end. A malformed head reads as an
  // empty line, which is answered with status 400. REQUIRES: is_whole().
  size_t Read(char* to, size_t bytes);

 private:
  const size_t most_;
  std::string text_;
  bool is_whole_ = false;
  size_t read_ = 0;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_NET_REQUEST_HEAD_H_
