// A small HTTP/1.1 server for what a program shows of itself: GET and HEAD, without a body, answered from memory.
//
// Every client is hostile: a request has so many bytes and so many seconds (RequestLimits), connections and threads
// have limits, a request with a body is answered and its connection closed, nothing is compressed or cut into ranges.
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
  std::string method;                        // Whatever HTTP has; GET and HEAD are worth an answer.
  std::string path;                          // As it was sent, not decoded, without the query.
  std::map<std::string, std::string> query;  // Decoded. Of a name that is given twice the first.
  std::map<std::string, std::string>
      headers;  // Names in lower case. Of one that is given twice both, with ", " between.

  // Empty where there is none.
  const std::string& Header(const std::string& name) const;
  const std::string& Query(const std::string& name) const;
};

struct PageAnswer {
  int status = 200;
  std::map<std::string, std::string> headers;  // Nothing in them may come from the request.
  std::string content_type;
  std::shared_ptr<const std::string> body;  // Null: none.
};

class PageServer {
 public:
  struct Options {
    std::string listen;               // host:port; port 0 takes any free one.
    std::string flag = "--web";       // That gave it, for messages.
    PageTls* tls = nullptr;           // Null: plain. Not owned, and outlives the server.
    int threads = 16;                 // Requests that are read, made and answered at once.
    size_t connections = 256;         // Above these the one that has been idle for longest is closed.
    size_t request_bytes = 16 << 10;  // The next three are those of RequestLimits.
    double read_seconds = 5;          // Half a second at most while all threads are busy.
    double write_seconds = 10;
    double idle_seconds = 15;  // A connection without a request.
  };
  // On any of the server's threads, several at once. Answers soon: a thread waits for it.
  using Handler = std::function<PageAnswer(const PageRequest&)>;

  // Listens when it returns. INVALID_ARGUMENT: a bad address. UNAVAILABLE: in use, or not of this machine.
  static absl::StatusOr<std::unique_ptr<PageServer>> Start(const Options& options, Handler handler);
  ~PageServer();  // Ends all connections, also in the midst of an answer, and waits for the handler.
  PageServer(const PageServer&) = delete;

  const std::string& address() const;  // host:port, with the port chosen.

 private:
  class Impl;
  explicit PageServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SERVE_PAGE_SERVER_H_
