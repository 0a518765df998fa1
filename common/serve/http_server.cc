#include "common/serve/http_server.h"

#include <httplib.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/net/listen.h"
#include "common/rpc/local_token.h"
#include "common/serve/http_connection.h"

namespace rekindle::common {
namespace {

constexpr char kPlain[] = "text/plain; charset=utf-8";
constexpr char kAuthorization[] = "Authorization";

// Returns whether a Host header names loopback. A browser sends the host name of the URL that it opens, which may be a
// foreign name that resolves to loopback.
bool NamesLoopback(const std::string& host) {
  const bool has_port = host.find(':') != std::string::npos && host.back() != ']';
  return host.empty() || IsLocalAddress(has_port ? host : host + ":0");
}

HttpAnswer Refusal(int status, const std::string& why) { return {status, {{"content-type", kPlain}}, why + "\n"}; }

}  // namespace

// Uses only the parser and the writer of HTTP of cpp-httplib. The connections are HttpConnections, because the sockets
// of cpp-httplib limit neither the time of a request nor the number of its headers.
class HttpServer::Parser final : public httplib::Server {
 public:
  explicit Parser(const HttpServer* server) {
    set_payload_max_length(0);
    // cpp-httplib adds the default headers also to answers that its parser makes by itself, such as errors.
    set_default_headers({{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}});
    set_pre_routing_handler([server](const httplib::Request& from, httplib::Response& to) {
      HttpRequest request;
      request.method = from.method;
      request.path = from.path;
      for (const char* name : {kAuthorization, "Host"}) {
        if (from.has_header(name)) request.headers[name] = from.get_header_value(name);
      }
      HttpAnswer answer = server->Answer(request);
      to.status = answer.status;
      for (const auto& [name, value] : answer.headers) {
        if (name != "content-type") to.set_header(name, value);
      }
      to.set_content(answer.body, answer.headers["content-type"]);
      return HandlerResponse::Handled;
    });
  }

  void Serve(HttpConnection& connection) {
    bool closes = false;
    process_request(connection, /*close_connection=*/true, closes, nullptr);
  }
};

HttpServer::HttpServer(Options options, Handler handler) : options_(std::move(options)), handler_(std::move(handler)) {}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(Options options, Handler handler) {
  std::unique_ptr<HttpServer> self(new HttpServer(std::move(options), std::move(handler)));
  const std::string& listen = self->options_.listen;
  const Security& security = self->options_.security;
  absl::StatusOr<HostPort> at = ParseListen(self->options_.flag, listen);
  if (!at.ok()) return at.status();
  if (at->host == "localhost") at->host = "127.0.0.1";
  if (!IsLocalAddress(listen)) {
    if (!security.HasTls() || security.token_file.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(self->options_.flag, " ", listen,
                       " would be open to others: set REKINDLE_TLS_CERT, REKINDLE_TLS_KEY, REKINDLE_TLS_CA and "
                       "REKINDLE_TOKEN_FILE, or give 127.0.0.1"));
    }
    absl::StatusOr<std::unique_ptr<ServerTls>> tls = ServerTls::Open(security);
    if (!tls.ok()) return tls.status();
    self->tls_ = *std::move(tls);
    const absl::StatusOr<std::string> token = ReadToken(security.token_file);
    if (!token.ok()) return token.status();
    self->authorization_ = absl::StrCat("Bearer ", *token);
  }
  absl::StatusOr<Listener> listener = Listen(*at, self->options_.flag, kConnections);
  if (!listener.ok()) return listener.status();
  self->listener_ = std::move(listener->socket);
  self->address_ = std::move(listener->address);
  self->stop_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!self->stop_.valid()) return ErrnoError("eventfd");
  self->parser_ = std::make_unique<Parser>(self.get());
  // The server's threads block all signals, which are for other threads. One of these signals is SIGPIPE, which a
  // client causes that goes away.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int i = 0; i < kConnections; ++i) self->threads_.emplace_back([server = self.get()] { server->Serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return self;
}

HttpServer::~HttpServer() {
  if (stop_.valid()) (void)eventfd_write(stop_.get(), 1);
  for (std::thread& thread : threads_) thread.join();
}

void HttpServer::Serve() {
  pollfd waited[] = {{.fd = listener_.get(), .events = POLLIN}, {.fd = stop_.get(), .events = POLLIN}};
  while (true) {
    if (poll(waited, 2, -1) < 0 && errno != EINTR) return;
    if (waited[1].revents != 0) return;
    UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) {
      // If no descriptor is free, accept4 would fail again at once, in an endless loop, so the thread waits first.
      const bool is_full = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (is_full && poll(&waited[1], 1, 100) > 0) return;
      continue;
    }
    HttpConnection connection(std::move(socket), stop_.get(), options_.seconds, options_.head_seconds);
    if (tls_ != nullptr && !connection.Handshake(tls_->Current().get())) continue;
    parser_->Serve(connection);
    connection.End();
  }
}

HttpAnswer HttpServer::Answer(const HttpRequest& request) const {
  const auto header = [&](const char* name) {
    const auto found = request.headers.find(name);
    return found == request.headers.end() ? std::string() : found->second;
  };
  if (tls_ == nullptr && !NamesLoopback(header("Host"))) return Refusal(403, "ask for it by an address of loopback");
  const std::string given = header(kAuthorization);
  const bool is_allowed = authorization_.empty() || SameSecret(given, authorization_);
  if (!is_allowed) {
    HttpAnswer answer = Refusal(401, "no token, or a wrong one: send `Authorization: Bearer TOKEN`");
    answer.headers["www-authenticate"] = "Bearer";
    return answer;
  }
  if (request.method != "GET" && request.method != "HEAD") return Refusal(405, "GET and HEAD alone");
  return handler_(request);
}

}  // namespace rekindle::common
