// How every process opens gRPC servers and channels, so that limits, security and errors are the same everywhere.
//
// Addresses are "host:port" (port 0: any free one) or "unix:/path". Loopback and Unix sockets need no files; listening
// anywhere else needs a certificate, its key, the authority of the clients and a token file: mutual TLS, and a bearer
// token checked on every call. Certificates are read again when their files change; the token is read once.
//
// On loopback, where all users of a machine can call and listen, a client without TLS speaks only to a process of its
// own user, of root, or of the user that its token names: whose it is, is asked for each call, before anything is sent.
// Where no token file is named it sends the token that its user's service on that port has published (local_token.h).
#ifndef REKINDLE_COMMON_RPC_H_
#define REKINDLE_COMMON_RPC_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/address.h"
#include "common/rpc_acceptor.h"

namespace rekindle::common {

// Paths of PEM files and of a file with one token (at least 16 characters; surrounding space is cut). Empty: none.
struct Security {
  std::string tls_cert;
  std::string tls_key;
  std::string tls_ca;
  std::string token_file;

  // REKINDLE_TLS_CERT, REKINDLE_TLS_KEY, REKINDLE_TLS_CA, REKINDLE_TOKEN_FILE.
  static Security FromEnvironment();
  bool HasTls() const { return !tls_cert.empty() || !tls_key.empty() || !tls_ca.empty(); }
};

inline constexpr int kMaxMessageBytes = 4 << 20;

// Among what a server sends first of a stream that it has begun to serve, be there anything to be said or not.
inline constexpr char kServesStream[] = "rekindle-serves";

struct ServerOptions {
  std::string listen = "127.0.0.1:0";
  Security security;
  int max_message_bytes = kMaxMessageBytes;  // Both ways; over it RESOURCE_EXHAUSTED.
  int max_concurrent_streams = 1024;         // A connection.
  std::string what = "coordinator";          // For who is refused on loopback: what it is that belongs to a user.
};

// A running server with health and reflection. Thread-safe.
class Server {
 public:
  // Services are not owned and must outlive the server.
  // INVALID_ARGUMENT: a bad address, or one not local without the files; unreadable or unfit files.
  // UNAVAILABLE: the address is in use or not of this machine. Each names the fix.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                                       const std::vector<grpc::Service*>& services);
  ~Server();  // As Shutdown(0).
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const std::string& address() const { return address_; }  // What to connect to; with the port chosen.
  int port() const { return port_; }                       // 0 for a Unix socket.
  void SetServing(bool serving);                           // What the health service answers.
  // Refuses new calls, gives running ones so long, then cancels them. Calls waiting in a reactor must be finished
  // by their owner before. Idempotent.
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
  std::string server_name;           // With TLS: what the server's certificate must name; empty: the address.
  bool own_connection = false;       // Channels to one address share a connection, unless one asks for its own.
  std::string what = "coordinator";  // As in ServerOptions.
};

// Does not connect yet: calls do (use deadlines; wait_for_ready where the server may be restarting). A lost connection
// is tried again every 50 to 200 ms. INVALID_ARGUMENT for a bad address or unfit files.
absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const std::string& address, const ChannelOptions& options = {});

// UNAUTHENTICATED: also where this process has refused to speak to another user's.
absl::Status StatusFromGrpc(const grpc::Status& status);
grpc::Status StatusToGrpc(const absl::Status& status);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_RPC_H_
