// Filters the head of one HTTP request on its way to cpp-httplib.
//
// cpp-httplib reads Range by std::regex, which recurses for each character, so a line of some kilobytes overflows a
// small stack. It also reads another name from the header `Content-Length : 50` than proxies do. So cpp-httplib gets a
// head only when the head is whole and well formed, and without the headers that no server of Rekindle uses.
#ifndef REKINDLE_COMMON_NET_REQUEST_HEAD_H_
#define REKINDLE_COMMON_NET_REQUEST_HEAD_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace rekindle::common {

// Collects the head of one HTTP request. It is thread-compatible.
class RequestHead {
 public:
  // Request line, headers and the empty line may have at most `most` bytes together.
  explicit RequestHead(size_t most) : most_(most) {}

  // Takes from the front of `bytes` what still belongs to the head, and returns how many bytes that was.
  size_t Take(absl::string_view bytes);
  bool is_whole() const { return is_whole_; }
  bool is_too_long() const { return !is_whole_ && text_.size() >= most_; }
  // Reads the part of the head that cpp-httplib may see. Like read(2) it returns 0 at the end. A malformed head reads
  // as an empty line, which is answered with status 400. REQUIRES: is_whole().
  size_t Read(char* to, size_t bytes);

 private:
  const size_t most_;
  std::string text_;
  bool is_whole_ = false;
  size_t read_ = 0;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_NET_REQUEST_HEAD_H_
