// The web page of a coordinator (`--web`): a server of its own, a token, and the file that says where to look.
#ifndef REKINDLE_COORDINATOR_WEB_WEB_SERVER_H_
#define REKINDLE_COORDINATOR_WEB_WEB_SERVER_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "common/rpc.h"
#include "common/serve/page_server.h"
#include "common/serve/page_tls.h"
#include "coordinator/web/page.h"
#include "coordinator/web/source.h"

namespace rekindle::coordinator::web {

class WebServer {
 public:
  struct Options {
    std::string listen;  // host:port; port 0 takes any free one.
    common::Security
        security;        // Beyond loopback certificate, key and token must be there; on loopback the token may be.
    std::string folder;  // The coordinator's; the address to open is written there (web_file.h).
    std::string version;
  };

  // What can be known before anything is started: as Start, but for files and ports.
  static absl::Status Check(const std::string& listen, const common::Security& security);
  // Listens when it returns. Plain HTTP on loopback, TLS anywhere else. INVALID_ARGUMENT: a bad address, or one beyond
  // loopback without the files; UNAVAILABLE: in use. Each names the fix.
  static absl::StatusOr<std::unique_ptr<WebServer>> Start(Options options, std::unique_ptr<Source> source);
  ~WebServer();
  WebServer(const WebServer&) = delete;

  // What to open: "https://host:port/".
  const std::string& address() const { return address_; }
  // The page's address, on loopback with the token behind: opening it is enough. For a terminal and private files,
  // never for a log. The part behind "#" is sent to no server.
  const std::string& address_with_token() const { return address_with_token_; }

 private:
  WebServer() = default;
  void SampleNowAndThen();

  std::unique_ptr<Source> source_;
  std::unique_ptr<Page> page_;
  std::unique_ptr<common::PageTls> tls_;
  std::unique_ptr<common::PageServer> server_;
  std::string address_;
  std::string address_with_token_;

  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;  // Under mutex_.
  std::thread sampler_;
};

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_WEB_SERVER_H_
