// Lets two ranks prove to each other that they hold the job's secret. A proof holds for one generation and one pair of
// ranks.
//
//   connector -> acceptor   Hello      version, role, generation, both ranks, membership, nonce
//   acceptor  -> connector  Challenge  nonce, MAC over (acceptor's label, Hello, nonce)
//   connector -> acceptor   Proof      MAC over (connector's label, Hello, nonce)
//
// The MAC is HMAC-SHA256 keyed with the job's secret. Fresh nonces of both sides make a recorded conversation useless.
// The labels keep one side's MAC from being used as the other's. The data after the handshake is authenticated by the
// connection alone. It is neither encrypted nor protected from someone who can write into the connection.
//
// Structs are sent as they are in memory, so the handshake works on little-endian machines only.
#ifndef REKINDLE_WORKER_COMM_WATCH_HANDSHAKE_H_
#define REKINDLE_WORKER_COMM_WATCH_HANDSHAKE_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "worker/comm/links/socket.h"

namespace rekindle::comm {

// A handshake ends within `kHandshakeSeconds`, or its connection is closed.
inline constexpr double kHandshakeSeconds = 3;

using Nonce = std::array<uint8_t, 32>;
using Mac = std::array<uint8_t, 32>;

enum class ConnectionRole : uint32_t { kControl = 1, kData = 2 };

struct Hello {
  // The last two characters of `magic` are the protocol's version.
  std::array<char, 8> magic = {'R', 'K', 'C', 'O', 'M', 'M', '0', '4'};
  ConnectionRole role = ConnectionRole::kControl;
  int32_t generation = 0;
  int32_t from = 0;
  int32_t to = 0;
  int32_t world_size = 0;
  // `attempt` ties a data connection to its control connection.
  uint32_t attempt = 0;
  // `membership` is a hash of HostOptions::membership.
  uint64_t membership = 0;
  Nonce nonce = {};
};
static_assert(sizeof(Hello) == 72);

struct Challenge {
  Nonce nonce = {};
  Mac mac = {};
};
static_assert(sizeof(Challenge) == 64);

Nonce RandomNonce();
// Returns INVALID_ARGUMENT for a Hello that no honest connector of this version sends.
absl::Status CheckHello(const Hello& hello);
Challenge MakeChallenge(const std::string& secret, const Hello& hello);
Mac MakeProof(const std::string& secret, const Hello& hello, const Nonce& acceptor_nonce);
// Compares two MACs in constant time.
bool Equal(const Mac& a, const Mac& b);

// Runs the connector's side of the handshake on a new connection. Returns PERMISSION_DENIED if the other side does not
// hold the job's secret.
absl::Status ConnectorHandshake(int fd, const std::string& secret, const Hello& hello, const WaitLimit& limit);

}  // namespace rekindle::comm

#endif  // REKINDLE_WORKER_COMM_WATCH_HANDSHAKE_H_
