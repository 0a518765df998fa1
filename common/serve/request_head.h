// The head of one HTTP request, on its way to cpp-httplib.
//
// cpp-httplib reads Range by std::regex, which calls itself for each character, so that a line of some kilobytes
// overflows a small stack; and it believes that the header `Content-Length : 50` has another name than it has for
// proxies. So it gets a head once that is whole and well formed, and without the headers that nobody here answers by.
#ifndef REKINDLE_COMMON_SERVE_REQUEST_HEAD_H_
#define REKINDLE_COMMON_SERVE_REQUEST_HEAD_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace rekindle::common {

// Thread-compatible.
class RequestHead {
 public:
  // Request line, headers and the empty line have at most `most` bytes.
  explicit RequestHead(size_t most) : most_(most) {}

  // Takes what belongs to the head from the front of `bytes`, and returns how many bytes that was.
  size_t Take(absl::string_view bytes);
  bool is_whole() const { return is_whole_; }
  bool is_too_long() const { return !is_whole_ && text_.size() >= most_; }
  // What cpp-httplib may see of it, as by read(2): 0 at the end. A head that is malformed reads as an empty line, which
  // is answered with status 400. REQUIRES: is_whole().
  size_t Read(char* to, size_t bytes);

 private:
  const size_t most_;
  std::string text_;
  bool is_whole_ = false;
  size_t read_ = 0;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SERVE_REQUEST_HEAD_H_
