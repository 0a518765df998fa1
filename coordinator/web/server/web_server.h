// Runs the web page of a coordinator (`--web`), with a server and a token of its own. It also writes the file that says
// which address to open.
#ifndef REKINDLE_COORDINATOR_WEB_SERVER_WEB_SERVER_H_
#define REKINDLE_COORDINATOR_WEB_SERVER_WEB_SERVER_H_

#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "common/rpc/rpc.h"
#include "common/serve/page_server.h"
#include "common/serve/page_tls.h"
#include "common/sync/mutex.h"
#include "coordinator/web/parts/source.h"
#include "coordinator/web/server/page.h"

namespace rekindle::coordinator::web {

class WebServer {
 public:
  struct Options {
    // `listen` is host:port, where port 0 takes any free one.
    std::string listen;
    // Beyond loopback, `security` must have certificate, key and token. On loopback it may have a token.
    common::Security security;
    // `folder` is the coordinator's data folder. The address to open is written there (web_file.h).
    std::string folder;
    std::string version;
  };

  // Checks the options of Start that can be checked before anything is started. The errors are those of Start, except
  // for files and ports.
  static absl::Status Check(const std::string& listen, const common::Security& security);
  // Starts the server, which listens when Start returns. It uses plain HTTP on loopback and TLS anywhere else.
  // INVALID_ARGUMENT means a bad address, or one beyond loopback without certificate, key and token. UNAVAILABLE means
  // that the address is in use. Each error names the fix.
  static absl::StatusOr<std::unique_ptr<WebServer>> Start(Options options, std::unique_ptr<Source> source);
  ~WebServer();
  WebServer(const WebServer&) = delete;

  // Returns the web page's address without the token, such as "https://host:port/".
  const std::string& address() const { return address_; }
  // Returns the page's address, on loopback followed by the token, so that opening it is enough. It is for a terminal
  // and private files, and never for a log. No browser sends the part after "#" to a server.
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

  common::Mutex mutex_;
  common::CondVar stopped_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread sampler_;
};

}  // namespace rekindle::coordinator::web

#endif  // REKINDLE_COORDINATOR_WEB_SERVER_WEB_SERVER_H_
