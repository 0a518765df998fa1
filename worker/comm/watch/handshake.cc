#include "worker/comm/watch/handshake.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <bit>
#include <cstring>

#include "common/agreed/agreed_limits.h"
#include "common/check/check.h"
#include "worker/comm/watch/control.h"

namespace rekindle::comm {
namespace {

static_assert(std::endian::native == std::endian::little);

Mac Sign(const std::string& secret, const char* label, const Hello& hello, const Nonce& nonce) {
  std::string message(label);
  message.append(reinterpret_cast<const char*>(&hello), sizeof(hello));
  message.append(reinterpret_cast<const char*>(nonce.data()), nonce.size());
  Mac mac{};
  unsigned length = mac.size();
  if (!HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
            reinterpret_cast<const unsigned char*>(message.data()), message.size(), mac.data(), &length)) {
    // HMAC fails only if memory runs out. To go on with a MAC of zeros would let anybody in.
    common::Check(false, "a message can be signed");
  }
  return mac;
}

constexpr char kAcceptor[] = "rekindle comm acceptor";
constexpr char kConnector[] = "rekindle comm connector";

}  // namespace

Nonce RandomNonce() {
  Nonce nonce{};
  common::Check(RAND_bytes(nonce.data(), static_cast<int>(nonce.size())) == 1, "the system gives random bytes");
  return nonce;
}

absl::Status CheckHello(const Hello& hello) {
  if (hello.magic != Hello{}.magic) return absl::InvalidArgumentError("not this protocol, or another version of it");
  const bool known_role = hello.role == ConnectionRole::kControl || hello.role == ConnectionRole::kData;
  const bool ranks = hello.world_size > 1 && hello.world_size <= common::kMaxWorldSize && hello.from >= 0 &&
                     hello.from < hello.world_size && hello.to >= 0 && hello.to < hello.from;
  if (!known_role || !ranks || hello.generation < 0) return absl::InvalidArgumentError("impossible ranks or role");
  return absl::OkStatus();
}

Challenge MakeChallenge(const std::string& secret, const Hello& hello) {
  Challenge challenge{.nonce = RandomNonce()};
  challenge.mac = Sign(secret, kAcceptor, hello, challenge.nonce);
  return challenge;
}

Mac MakeProof(const std::string& secret, const Hello& hello, const Nonce& acceptor_nonce) {
  return Sign(secret, kConnector, hello, acceptor_nonce);
}

bool Equal(const Mac& a, const Mac& b) { return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

absl::Status ConnectorHandshake(int fd, const std::string& secret, const Hello& hello, const WaitLimit& limit) {
  if (absl::Status sent = WriteFull(fd, &hello, sizeof(hello), limit); !sent.ok()) return sent;
  Challenge challenge;
  if (absl::Status got = ReadFull(fd, &challenge, sizeof(challenge), limit); !got.ok()) return got;
  if (!Equal(challenge.mac, Sign(secret, kAcceptor, hello, challenge.nonce))) {
    return absl::PermissionDeniedError("the other side does not hold this job's secret");
  }
  const Mac proof = MakeProof(secret, hello, challenge.nonce);
  return WriteFull(fd, &proof, sizeof(proof), limit);
}

}  // namespace rekindle::comm
