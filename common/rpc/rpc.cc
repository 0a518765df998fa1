#include "common/rpc/rpc.h"

#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/log/log.h"
#include "common/rpc/rpc_security.h"

namespace rekindle::common {
namespace {

constexpr int kKeepaliveMs = 10'000;
constexpr int kKeepaliveTimeoutMs = 10'000;
// A connection may hold a descriptor for `kHandshakeTimeoutMs` before its client has sent something and identified
// itself.
constexpr int kHandshakeTimeoutMs = 20'000;

// Sends gRPC's own messages (a refused handshake, a port in use) to the debug log. Users get the statuses of this file
// instead.
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
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, options.max_concurrent_streams);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kKeepaliveMs / 2);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                                      const std::vector<grpc::Service*>& services) {
  InitialiseGrpcOnce();
  if (absl::Status fit = CheckAddress(options.listen); !fit.ok()) return fit;
  absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> credentials =
      MakeServerCredentials(options.listen, options.security, options.what);
  if (!credentials.ok()) return credentials.status();
  absl::StatusOr<RpcSockets> sockets = OpenRpcSockets(options.listen);
  if (!sockets.ok()) return sockets.status();

  grpc::ServerBuilder builder;
  Configure(builder, options);
  using From = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  std::shared_ptr<grpc::experimental::ExternalConnectionAcceptor> taker =
      builder.experimental().AddExternalConnectionAcceptor(From::FROM_FD, *credentials);
  for (grpc::Service* service : services) builder.RegisterService(service);
  std::unique_ptr<Server> server(new Server);
  server->server_ = builder.BuildAndStart();
  if (server->server_ == nullptr) return absl::InternalError(absl::StrCat("gRPC cannot serve ", options.listen));
  server->port_ = sockets->port;
  server->address_ = sockets->address;
  absl::StatusOr<std::unique_ptr<RpcAcceptor>> acceptor =
      RpcAcceptor::Start(*std::move(sockets), [taker](const UniqueFd& listener, UniqueFd connection) {
        // gRPC sets TCP_USER_TIMEOUT in the same way on connections that it accepts itself. A client that acknowledges
        // no bytes loses its connection after the same time as one that does not answer a keepalive ping.
        const int milliseconds = kKeepaliveTimeoutMs;
        (void)setsockopt(connection.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
        grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters taken;
        taken.listener_fd = listener.get();
        taken.fd = connection.Release();
        taker->HandleNewConnection(&taken);
      });
  if (!acceptor.ok()) return acceptor.status();
  server->acceptor_ = *std::move(acceptor);
  server->SetServing(true);
  return server;
}

Server::~Server() { Shutdown(0); }

void Server::SetServing(bool serving) {
  if (server_ && server_->GetHealthCheckService()) server_->GetHealthCheckService()->SetServingStatus(serving);
}

void Server::Shutdown(double seconds) {
  if (acceptor_) acceptor_->Stop();
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
  // MIN_RECONNECT_BACKOFF is not a pause but the time that one attempt to connect may take. A busy machine needs more
  // than a back-off for a handshake.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
  // A coordinator that has moved keeps its host name, so a client that cannot reach it soon resolves the name again.
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, 2000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  if (options.own_connection) arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  if (options.security.HasTls() && !options.server_name.empty()) {
    arguments.SetSslTargetNameOverride(options.server_name);
  }
  // Nodes connect to each other directly, whatever http_proxy says.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, *credentials, arguments);
}

absl::Status StatusFromGrpc(const grpc::Status& status) {
  // gRPC reports a refusal by this process's own credentials as UNAVAILABLE, and puts the name of one of its parts
  // before the message.
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
