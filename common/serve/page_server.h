// Serves pages of a program over HTTP/1.1: GET and HEAD, without a body, answered from memory.
//
// Every client is treated as hostile. A request has a limit of bytes and of seconds (RequestLimits), and connections
// and threads have limits. After a request with a body is answered, its connection is closed. Nothing is compressed or
// cut into ranges.
#ifndef REKINDLE_COMMON_SERVE_PAGE_SERVER_H_
#define REKINDLE_COMMON_SERVE_PAGE_SERVER_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/serve/page_tls.h"

namespace rekindle::common {

struct PageRequest {
  // `method` may be any of HTTP's. Only GET and HEAD need an answer.
  std::string method;
  // `path` is not decoded and has no query.
  std::string path;
  // `query` is decoded. If a name is given twice, the first value counts.
  std::map<std::string, std::string> query;
  // The names in `headers` are in lower case. If a name is given twice, both values are joined by ", ".
  std::map<std::string, std::string> headers;

  // Header returns the value of the header `name`, and Query that of the query parameter `name`. It is empty if there
  // is none.
  const std::string& Header(const std::string& name) const;
  const std::string& Query(const std::string& name) const;
};

struct PageAnswer {
  int status = 200;
  // Nothing in the `headers` of an answer may come from the request.
  std::map<std::string, std::string> headers;
  std::string content_type;
  // `body` is null if the answer has no body.
  std::shared_ptr<const std::string> body;
};

class PageServer {
 public:
  struct Options {
    // `listen` is host:port. Port 0 means any free one.
    std::string listen;
    // `flag` is the flag that set `listen`, for messages.
    std::string flag = "--web";
    // `tls` is null for plain HTTP. The caller owns it, and it must outlive the server.
    PageTls* tls = nullptr;
    // At most `threads` requests are read and answered at the same time.
    int threads = 16;
    // If there are more than `connections` connections, the one that has been idle for longest is closed.
    size_t connections = 256;
    // `request_bytes` limits the request line and the headers of a request, `read_seconds` the time to read a request,
    // and `write_seconds` the time to write an answer.
    size_t request_bytes = 16 << 10;
    // While all threads are busy, a request has at most half a second of `read_seconds`.
    double read_seconds = 5;
    double write_seconds = 10;
    // `idle_seconds` limits a connection without a request.
    double idle_seconds = 15;
  };
  // Answers a request. The handler is called on any of the server's threads, several at once. It must return soon,
  // because a thread of the server waits for it.
  using Handler = std::function<PageAnswer(const PageRequest&)>;

  // Starts a server, which listens when Start returns. INVALID_ARGUMENT says that the address is bad, and UNAVAILABLE
  // that it is in use or not of this machine.
  static absl::StatusOr<std::unique_ptr<PageServer>> Start(const Options& options, Handler handler);
  // Ends all connections, even in the middle of an answer, and waits until the handler has returned.
  ~PageServer();
  PageServer(const PageServer&) = delete;

  // Returns host:port with the chosen port.
  const std::string& address() const;

 private:
  class Impl;
  explicit PageServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SERVE_PAGE_SERVER_H_
