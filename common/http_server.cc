#include "common/http_server.h"

#include <httplib.h>
#include <netdb.h>
#include <openssl/crypto.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/http_connection.h"
#include "common/local_token.h"

namespace rekindle::common {
namespace {

constexpr char kPlain[] = "text/plain; charset=utf-8";
constexpr char kAuthorization[] = "Authorization";

struct Address {
  std::string host;  // Without brackets.
  std::string port;
  bool bracketed = false;
};

absl::StatusOr<Address> Split(const std::string& flag, const std::string& text) {
  Address address;
  const size_t colon = text.rfind(':');
  int port = -1;
  if (colon != std::string::npos && absl::SimpleAtoi(text.substr(colon + 1), &port) && port >= 0 && port <= 65535) {
    address.host = text.substr(0, colon);
    address.port = absl::StrCat(port);
  }
  const size_t length = address.host.size();
  address.bracketed = length > 2 && address.host.front() == '[' && address.host.back() == ']';
  if (address.bracketed) address.host = address.host.substr(1, length - 2);
  if (address.host.empty() || (!address.bracketed && address.host.find(':') != std::string::npos)) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, " '", text, "' is no address: write host:port, as 127.0.0.1:9090"));
  }
  if (address.host == "localhost") address.host = "127.0.0.1";
  return address;
}

int PortOf(int socket) {
  sockaddr_storage bound = {};
  socklen_t size = sizeof bound;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

// A browser sends the name by which it was led here.
bool NamesLoopback(const std::string& host) {
  const bool has_port = host.find(':') != std::string::npos && host.back() != ']';
  return host.empty() || IsLocalAddress(has_port ? host : host + ":0");
}

HttpAnswer Refusal(int status, const std::string& why) { return {status, {{"content-type", kPlain}}, why + "\n"}; }

}  // namespace

// cpp-httplib's parser and writer of HTTP. Its own sockets have an end neither in time nor in the number of headers.
class HttpServer::Parser final : public httplib::Server {
 public:
  explicit Parser(const HttpServer* server) {
    set_payload_max_length(0);
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
    // Ranges of a page would be more bytes than the page.
    process_request(connection, /*close_connection=*/true, closes,
                    [](httplib::Request& request) { request.ranges.clear(); });
  }
};

HttpServer::HttpServer(Options options, Handler handler) : options_(std::move(options)), handler_(std::move(handler)) {}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(Options options, Handler handler) {
  std::unique_ptr<HttpServer> self(new HttpServer(std::move(options), std::move(handler)));
  const std::string& listen = self->options_.listen;
  const Security& security = self->options_.security;
  if (absl::StatusOr<Address> fit = Split(self->options_.flag, listen); !fit.ok()) return fit.status();
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
  if (absl::Status listens = self->Listen(); !listens.ok()) return listens;
  self->stop_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!self->stop_.valid()) return ErrnoError("eventfd");
  self->parser_ = std::make_unique<Parser>(self.get());
  // The process's signals are none of these threads' business, nor is that a reader of theirs went away.
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

absl::Status HttpServer::Listen() {
  const absl::StatusOr<Address> at = Split(options_.flag, options_.listen);
  if (!at.ok()) return at.status();
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(at->host.c_str(), at->port.c_str(), &hints, &found); error != 0) {
    return absl::InvalidArgumentError(absl::StrCat(options_.flag, " ", options_.listen, ": ", gai_strerror(error),
                                                   ": give an address of this machine"));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> freed(found, &freeaddrinfo);
  UniqueFd listener(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, found->ai_protocol));
  const int on = 1;
  if (!listener.valid() || setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      bind(listener.get(), found->ai_addr, found->ai_addrlen) != 0 || listen(listener.get(), kConnections) != 0) {
    const int cause = errno;
    return absl::UnavailableError(
        absl::StrCat(options_.flag, ": cannot listen on ", options_.listen, ": ", std::strerror(cause),
                     cause == EADDRINUSE ? absl::StrCat(": ", options_.flag, " ", at->host, ":0 takes any free port")
                                         : std::string()));
  }
  address_ = at->bracketed ? absl::StrCat("[", at->host, "]:", PortOf(listener.get()))
                           : absl::StrCat(at->host, ":", PortOf(listener.get()));
  listener_ = std::move(listener);
  return absl::OkStatus();
}

void HttpServer::Serve() {
  pollfd waited[] = {{.fd = listener_.get(), .events = POLLIN}, {.fd = stop_.get(), .events = POLLIN}};
  while (true) {
    if (poll(waited, 2, -1) < 0 && errno != EINTR) return;
    if (waited[1].revents != 0) return;
    UniqueFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) {
      // Without descriptors it would be asked again at once, and for ever.
      const bool is_full = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (is_full && poll(&waited[1], 1, 100) > 0) return;
      continue;
    }
    HttpConnection connection(std::move(socket), stop_.get(), options_.seconds);
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
  // Constant time in what the token holds; its length is no secret.
  const bool is_allowed =
      authorization_.empty() || (given.size() == authorization_.size() &&
                                 CRYPTO_memcmp(given.data(), authorization_.data(), authorization_.size()) == 0);
  if (!is_allowed) {
    HttpAnswer answer = Refusal(401, "no token, or a wrong one: send `Authorization: Bearer TOKEN`");
    answer.headers["www-authenticate"] = "Bearer";
    return answer;
  }
  if (request.method != "GET" && request.method != "HEAD") return Refusal(405, "GET and HEAD alone");
  return handler_(request);
}

}  // namespace rekindle::common
