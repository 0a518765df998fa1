#include "common/rpc.h"

#include <arpa/inet.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/log.h"
#include "common/rpc_security.h"
#include "common/unix_path.h"

namespace rekindle::common {
namespace {

constexpr char kUnix[] = "unix:";
constexpr int kKeepaliveMs = 10'000;
constexpr int kKeepaliveTimeoutMs = 10'000;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool IsUnix(const std::string& address) { return address.rfind(kUnix, 0) == 0; }

sockaddr_un UnixAddress(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), kLongestUnixPath));
  return address;
}

// gRPC unlinks a socket file it finds, also one that another process still serves.
absl::Status CheckUnixSocket(const std::string& path) {
  if (path.empty() || path.size() > kLongestUnixPath) {
    return absl::InvalidArgumentError(absl::StrCat("unix socket path '", path, "' must have 1 to ", kLongestUnixPath,
                                                   " bytes: use a shorter folder"));
  }
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return absl::InternalError(absl::StrCat("socket: ", std::strerror(errno)));
  const sockaddr_un address = UnixAddress(path);
  const bool answered = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  if (!answered) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("unix socket ", path, " is served by another process: stop it first"));
}

// gRPC does not say why it could not listen: try the same to learn it.
absl::Status WhyNotListening(const HostPort& at, const std::string& address) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(at.host.c_str(), std::to_string(at.port).c_str(), &hints, &found); error != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot listen on ", address, ": ", gai_strerror(error), ": give an address of this machine"));
  }
  int cause = 0;
  for (const addrinfo* a = found; a != nullptr && cause == 0; a = a->ai_next) {
    const int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    const int on = 1;
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, 1) != 0) cause = errno;
    if (fd >= 0) close(fd);
  }
  freeaddrinfo(found);
  if (cause == EADDRINUSE) {
    return absl::UnavailableError(absl::StrCat("port ", at.port, " of ", at.host,
                                               " is in use: stop the other process, or listen on another port "
                                               "(--listen ",
                                               at.host, ":0 takes any free one)"));
  }
  return absl::UnavailableError(
      absl::StrCat("cannot listen on ", address, ": ", cause == 0 ? "unknown cause" : std::strerror(cause)));
}

// What gRPC prints of its own (a refused handshake, a port in use) is for whoever debugs; users get our statuses.
void LogFromGrpc(gpr_log_func_args* args) {
  log::Debug(args->message, {{"at", absl::StrCat(args->file, ":", args->line)}});
}

void InitialiseGrpcOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function(LogFromGrpc);
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
}

void Configure(grpc::ServerBuilder& builder, const ServerOptions& options) {
  builder.SetMaxReceiveMessageSize(options.max_message_bytes);
  builder.SetMaxSendMessageSize(options.max_message_bytes);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, options.max_concurrent_streams);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kKeepaliveMs / 2);
}

}  // namespace

Security Security::FromEnvironment() {
  return {Environment("REKINDLE_TLS_CERT"), Environment("REKINDLE_TLS_KEY"), Environment("REKINDLE_TLS_CA"),
          Environment("REKINDLE_TOKEN_FILE")};
}

absl::StatusOr<HostPort> SplitAddress(const std::string& address) {
  const size_t colon = address.rfind(':');
  HostPort split;
  const bool parsed = colon != std::string::npos && colon > 0 &&
                      absl::SimpleAtoi(address.substr(colon + 1), &split.port) && split.port >= 0 &&
                      split.port <= 65535;
  if (parsed) split.host = address.substr(0, colon);
  const bool bracketed = split.host.size() > 2 && split.host.front() == '[' && split.host.back() == ']';
  if (bracketed) split.host = split.host.substr(1, split.host.size() - 2);
  if (!parsed || (!bracketed && split.host.find(':') != std::string::npos)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", address, "' is no address: write host:port, as 127.0.0.1:7070, or unix:/path"));
  }
  return split;
}

absl::Status CheckAddress(const std::string& address) {
  return IsUnix(address) ? absl::OkStatus() : SplitAddress(address).status();
}

bool IsLocalAddress(const std::string& address) {
  if (IsUnix(address)) return true;
  const absl::StatusOr<HostPort> split = SplitAddress(address);
  if (!split.ok()) return false;
  if (split->host == "localhost") return true;
  in_addr v4;
  if (inet_pton(AF_INET, split->host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6;
  return inet_pton(AF_INET6, split->host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool IsLoopback(const std::string& address) { return !IsUnix(address) && IsLocalAddress(address); }

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                                      const std::vector<grpc::Service*>& services) {
  InitialiseGrpcOnce();
  const bool unix_socket = IsUnix(options.listen);
  HostPort at;
  if (unix_socket) {
    if (absl::Status free = CheckUnixSocket(options.listen.substr(std::strlen(kUnix))); !free.ok()) return free;
  } else {
    absl::StatusOr<HostPort> split = SplitAddress(options.listen);
    if (!split.ok()) return split.status();
    at = *std::move(split);
  }
  absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> credentials =
      MakeServerCredentials(options.listen, options.security, options.what);
  if (!credentials.ok()) return credentials.status();

  grpc::ServerBuilder builder;
  Configure(builder, options);
  int bound = 0;
  builder.AddListeningPort(options.listen, *credentials, &bound);
  for (grpc::Service* service : services) builder.RegisterService(service);
  std::unique_ptr<Server> server(new Server);
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr || bound == 0) {
    if (unix_socket) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen on ", options.listen, ": is its folder there and writable?"));
    }
    return WhyNotListening(at, options.listen);
  }
  server->port_ = unix_socket ? 0 : bound;
  server->address_ =
      unix_socket ? options.listen : absl::StrCat(options.listen.substr(0, options.listen.rfind(':')), ":", bound);
  server->SetServing(true);
  return server;
}

Server::~Server() { Shutdown(0); }

void Server::SetServing(bool serving) {
  if (server_ && server_->GetHealthCheckService()) server_->GetHealthCheckService()->SetServingStatus(serving);
}

void Server::Shutdown(double seconds) {
  if (!server_) return;
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(static_cast<int>(seconds * 1e3)));
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const std::string& address, const ChannelOptions& options) {
  InitialiseGrpcOnce();
  if (absl::Status fit = CheckAddress(address); !fit.ok()) return fit;
  absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> credentials =
      MakeChannelCredentials(address, options.security, options.what);
  if (!credentials.ok()) return credentials.status();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(options.max_message_bytes);
  arguments.SetMaxSendMessageSize(options.max_message_bytes);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  // Not a pause: the time one attempt may take. A busy machine needs more than a back-off to shake hands.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
  // A coordinator that has moved keeps its name: whoever cannot reach it soon asks anew where that leads.
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 2000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  if (options.own_connection) arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  if (options.security.HasTls() && !options.server_name.empty()) {
    arguments.SetSslTargetNameOverride(options.server_name);
  }
  // Nodes speak to each other directly, whatever http_proxy says.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, *credentials, arguments);
}

absl::Status StatusFromGrpc(const grpc::Status& status) {
  // gRPC gives what our own credentials refuse as UNAVAILABLE, and says of which of its parts it comes.
  if (const size_t at = status.error_message().find(kRefusedHere); at != std::string::npos) {
    return absl::UnauthenticatedError(status.error_message().substr(at + std::strlen(kRefusedHere)));
  }
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

grpc::Status StatusToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

}  // namespace rekindle::common
