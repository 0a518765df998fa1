// Serves small HTTP pages of this program, such as metrics. A connection has one request, and only a few connections
// are open at a time. Each is bounded in bytes and in time, so that no client can make the process wait or grow.
//
// On loopback it speaks plain HTTP with every user of the machine. It refuses a Host header that is no name of
// loopback, because a foreign web page could have a host name that resolves to loopback. Anywhere else it speaks TLS
// with clients that have a certificate of the clients' authority, and requires the bearer token with each request.
// Certificate, key, authority and token are the four files of rpc.h. Certificates are read again when their files
// change. The token is read once.
#ifndef REKINDLE_COMMON_SERVE_HTTP_SERVER_H_
#define REKINDLE_COMMON_SERVE_HTTP_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/net/http.h"
#include "common/process/process.h"
#include "common/rpc/rpc.h"
#include "common/serve/server_tls.h"

namespace rekindle::common {

// Serves pages. It is thread-safe.
class HttpServer {
 public:
  struct Options {
    // `listen` is host:port. Port 0 means any free one.
    std::string listen;
    // `flag` is the flag that set `listen`, for errors, for example "--metrics".
    std::string flag;
    // Beyond loopback all four files of `security` are needed. On loopback none is used.
    Security security;
    // `seconds` limits a request and its answer together.
    double seconds = 10;
    // `head_seconds` limits the request. A silent client keeps others waiting for that time.
    double head_seconds = 2;
  };
  // Answers a GET or HEAD of an allowed client. The handler is called on the server's threads, possibly several at
  // once. `path` is without a query, and there is no body.
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;

  // At most `kConnections` connections are open at a time. More wait in the kernel's short queue.
  static constexpr int kConnections = 16;

  // Starts a server. INVALID_ARGUMENT says that the address is bad, that it is beyond loopback and the files are
  // missing, or that the files are unfit. UNAVAILABLE says that the address is in use or not of this machine. Each
  // error names the fix.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Options options, Handler handler);
  // Ends the server and all its connections.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Returns host:port with the chosen port.
  const std::string& address() const { return address_; }

 private:
  class Parser;

  HttpServer(Options options, Handler handler);
  void Serve();
  HttpAnswer Answer(const HttpRequest& request) const;

  const Options options_;
  const Handler handler_;
  // `tls_` provides TLS for the connections. It is null on loopback, where the server speaks plain HTTP.
  std::unique_ptr<ServerTls> tls_;
  // `authorization_` is the header that a request must have. It is empty if none is needed.
  std::string authorization_;
  std::string address_;
  UniqueFd listener_;
  // `stop_` is a descriptor that becomes readable when the server has to stop.
  UniqueFd stop_;
  std::unique_ptr<Parser> parser_;
  std::vector<std::thread> threads_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_SERVE_HTTP_SERVER_H_
