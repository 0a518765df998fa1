// Takes the connections of a gRPC server, in the place of gRPC's own loop.
//
// gRPC 1.51 stops for good to accept once accept() has failed, as it does where no descriptor is free: the server goes
// on, and nobody reaches it any more. Here one that fails is tried again, and what comes beyond DescriptorsOfClients is
// closed at once.
#ifndef REKINDLE_COMMON_RPC_ACCEPTOR_H_
#define REKINDLE_COMMON_RPC_ACCEPTOR_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "common/process.h"

namespace rekindle::common {

// Sockets that listen for a server, each non-blocking.
struct RpcSockets {
  std::vector<UniqueFd> sockets;
  std::string address;    // What to connect to; with the port chosen.
  int port = 0;           // 0 for a Unix socket.
  std::string unix_path;  // Empty: TCP.
};

// `address` as of ServerOptions. Errors are those of Server::Start.
absl::StatusOr<RpcSockets> OpenRpcSockets(const std::string& address);

// Thread-safe.
class RpcAcceptor {
 public:
  // On the acceptor's thread. The connection does not block.
  using HandOver = std::function<void(const UniqueFd& listener, UniqueFd connection)>;

  static absl::StatusOr<std::unique_ptr<RpcAcceptor>> Start(RpcSockets sockets, HandOver hand_over);
  ~RpcAcceptor();  // As Stop.
  RpcAcceptor(const RpcAcceptor&) = delete;
  RpcAcceptor& operator=(const RpcAcceptor&) = delete;

  // Nobody can connect any more, and nothing is handed over. Idempotent.
  void Stop();

 private:
  RpcAcceptor(RpcSockets sockets, HandOver hand_over);
  void Run();
  void AcceptAll(const UniqueFd& listener);
  void TellOfRefusals();

  RpcSockets sockets_;
  const HandOver hand_over_;
  UniqueFd stop_;  // Can be read once it stops.
  std::mutex mutex_;
  std::thread thread_;  // Under mutex_.

  // Of the thread alone.
  int refused_ = 0;
  double told_at_ = 0;
  bool backs_off_ = false;  // The kernel gave no descriptor: the next one is asked for a little later.
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_RPC_ACCEPTOR_H_
