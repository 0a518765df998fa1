// A small HTTP server for pages of our own, such as metrics: one request a connection, a few connections at a time,
// each bounded in bytes and in time, so that whoever reaches the port can neither make the process wait nor make it
// grow.
//
// On loopback it speaks plain HTTP with everybody on the machine, and refuses a Host header that is no name of
// loopback: a page from elsewhere whose name was made to lead here. Anywhere else it speaks TLS with those who have a
// certificate of the clients' authority, and wants the bearer token with each request: the four files of rpc.h.
// Certificates are read again when their files change; the token is read once.
#ifndef REKINDLE_COMMON_HTTP_SERVER_H_
#define REKINDLE_COMMON_HTTP_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/http.h"
#include "common/process.h"
#include "common/rpc.h"
#include "common/server_tls.h"

namespace rekindle::common {

// Thread-safe.
class HttpServer {
 public:
  struct Options {
    std::string listen;       // host:port; port 0: any free one.
    std::string flag;         // That says so, for errors: "--metrics".
    Security security;        // Beyond loopback all four files; on loopback none is looked at.
    double seconds = 10;      // For a request and its answer.
    double head_seconds = 2;  // For the request: whoever says nothing keeps others waiting for so long.
  };
  // Called for a GET or HEAD of whoever may ask, on one of the server's threads, several at once. `path` is without a
  // query, and there is no body.
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;

  static constexpr int kConnections = 16;  // At a time; more wait in the kernel's short queue.

  // INVALID_ARGUMENT: a bad address, or one beyond loopback without the files; unfit files. UNAVAILABLE: the address is
  // in use or not of this machine. Each names the fix.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(Options options, Handler handler);
  // Ends what is under way.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // host:port, with the port chosen.
  const std::string& address() const { return address_; }
  bool has_tls() const { return tls_ != nullptr; }

 private:
  class Parser;

  HttpServer(Options options, Handler handler);
  void Serve();
  HttpAnswer Answer(const HttpRequest& request) const;

  const Options options_;
  const Handler handler_;
  std::unique_ptr<ServerTls> tls_;  // Null on loopback.
  std::string authorization_;       // What a request must say; empty: nothing.
  std::string address_;
  UniqueFd listener_;
  UniqueFd stop_;  // Can be read once the server ends.
  std::unique_ptr<Parser> parser_;
  std::vector<std::thread> threads_;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_HTTP_SERVER_H_
