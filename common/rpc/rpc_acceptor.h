// Accepts the connections of a gRPC server instead of gRPC's own loop.
//
// gRPC 1.51 stops accepting for good once accept() has failed, which happens if no descriptor is free. The server
// continues, but no client can reach it any more. Here a failed accept is tried again, and connections beyond
// DescriptorsOfClients are closed at once.
#ifndef REKINDLE_COMMON_RPC_RPC_ACCEPTOR_H_
#define REKINDLE_COMMON_RPC_RPC_ACCEPTOR_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "common/process/process.h"
#include "common/sync/mutex.h"

namespace rekindle::common {

// Holds the sockets that listen for a server. Each is non-blocking.
struct RpcSockets {
  std::vector<UniqueFd> sockets;
  // `address` is the address to which clients connect, with the chosen port.
  std::string address;
  // `port` is 0 for a Unix socket.
  int port = 0;
  // `unix_path` is empty for TCP.
  std::string unix_path;
};

// Opens the sockets of `address`, which has the form of ServerOptions::listen. Returns the errors of Server::Start.
absl::StatusOr<RpcSockets> OpenRpcSockets(const std::string& address);

// Accepts connections in a thread of its own. It is thread-safe.
class RpcAcceptor {
 public:
  // The acceptor calls a `HandOver` on its own thread for each accepted connection, which is non-blocking.
  using HandOver = std::function<void(const UniqueFd& listener, UniqueFd connection)>;

  static absl::StatusOr<std::unique_ptr<RpcAcceptor>> Start(RpcSockets sockets, HandOver hand_over);
  // Stops accepting, as Stop does.
  ~RpcAcceptor();
  RpcAcceptor(const RpcAcceptor&) = delete;
  RpcAcceptor& operator=(const RpcAcceptor&) = delete;

  // Stops accepting. After Stop nobody can connect, and no connection is handed over. It is idempotent.
  void Stop();

 private:
  RpcAcceptor(RpcSockets sockets, HandOver hand_over);
  void Run();
  void AcceptAll(const UniqueFd& listener);
  void TellOfRefusals();

  RpcSockets sockets_;
  const HandOver hand_over_;
  // `stop_` is a descriptor that becomes readable when the acceptor has to stop.
  UniqueFd stop_;
  Mutex mutex_;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);

  // The remaining fields are used only by the acceptor's thread.
  int refused_ = 0;
  double told_at_ = 0;
  // `backs_off_` says that the kernel gave no descriptor, so the next connection is accepted a little later.
  bool backs_off_ = false;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_RPC_RPC_ACCEPTOR_H_
