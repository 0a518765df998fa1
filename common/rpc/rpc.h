// Opens gRPC servers and channels for every process, so that limits, security and errors are the same everywhere.
//
// Addresses are "host:port" (port 0 means any free one) or "unix:/path". Loopback and Unix sockets need no files.
// Listening anywhere else needs a certificate, its key, the authority of the clients and a token file: mutual TLS, and
// a bearer token that is checked on every call. Certificates are read again when their files change. The token is read
// once.
//
// On loopback, where all users of a machine can call and listen, a client without TLS speaks only to a process of its
// own user, of root, or of the user that its token names. It checks this for each call before anything is sent. If no
// token file is named, it sends the token that its user's service on that port has published (local_token.h).
#ifndef REKINDLE_COMMON_RPC_RPC_H_
#define REKINDLE_COMMON_RPC_RPC_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/net/address.h"
#include "common/rpc/rpc_acceptor.h"
#include "common/rpc/security.h"

namespace rekindle::common {

inline constexpr int kMaxMessageBytes = 4 << 20;

// The initial metadata of a stream that a server has begun to serve contains the key `kServesStream`, whether or not
// there is any message to send.
inline constexpr char kServesStream[] = "rekindle-serves";

struct ServerOptions {
  std::string listen = "127.0.0.1:0";
  Security security;
  // `max_message_bytes` limits messages both ways. A larger one ends with RESOURCE_EXHAUSTED.
  int max_message_bytes = kMaxMessageBytes;
  // `max_concurrent_streams` limits the calls that run at the same time on one connection.
  int max_concurrent_streams = 1024;
  // `what` names the service in the message for a client that is refused on loopback, because the service belongs to
  // another user.
  std::string what = "coordinator";
};

// A `Server` is a running server with health and reflection. It is thread-safe.
class Server {
 public:
  // Starts a server. The caller owns the services, which must outlive the server. INVALID_ARGUMENT says that the
  // address is bad, that it is not local and the files are missing, or that files are unreadable or unfit. UNAVAILABLE
  // says that the address is in use or not of this machine. Each error names the fix.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                                       const std::vector<grpc::Service*>& services);
  // Shuts the server down, as Shutdown(0) does.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Returns the address to which clients connect, with the chosen port.
  const std::string& address() const { return address_; }
  // Returns the chosen port, or 0 for a Unix socket.
  int port() const { return port_; }
  // Sets whether gRPC's health service answers that this server is serving.
  void SetServing(bool serving);
  // Refuses new calls, gives running ones `seconds`, and then cancels them. Calls that wait in a reactor must be
  // finished by their owner before Shutdown is called. It is idempotent.
  void Shutdown(double seconds);

 private:
  Server() = default;

  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<RpcAcceptor> acceptor_;
  std::string address_;
  int port_ = 0;
};

struct ChannelOptions {
  Security security = Security::FromEnvironment();
  int max_message_bytes = kMaxMessageBytes;
  // With TLS the server's certificate must contain `server_name`. If `server_name` is empty, the certificate must
  // contain the address.
  std::string server_name;
  // Channels to one address share a connection, unless `own_connection` is set.
  bool own_connection = false;
  // `what` names the server in the error of a call that this process refuses to make on loopback, because the server
  // belongs to another user.
  std::string what = "coordinator";
};

// Creates a channel. It does not connect yet, but calls do. They should use deadlines, and wait_for_ready if the server
// may be restarting. A lost connection is tried again every 50 to 200 ms. Returns INVALID_ARGUMENT for a bad address or
// unfit files.
absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const std::string& address, const ChannelOptions& options = {});

// Converts the status of a gRPC call. It is UNAUTHENTICATED also if this process has refused to speak to another user's
// process.
absl::Status StatusFromGrpc(const grpc::Status& status);
grpc::Status StatusToGrpc(const absl::Status& status);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_RPC_RPC_H_
