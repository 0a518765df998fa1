// Makes the credentials for rpc.h: mutual TLS with files that may be replaced while the program runs, and the bearer
// token.
#ifndef REKINDLE_COMMON_RPC_RPC_SECURITY_H_
#define REKINDLE_COMMON_RPC_RPC_SECURITY_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/rpc/security.h"

namespace rekindle::common {

// The functions make the credentials of a server and of a channel. `what` names the server in the error of a call that
// is refused on loopback, because the server belongs to another user.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(const std::string& address,
                                                                               const Security& security,
                                                                               const std::string& what);
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeChannelCredentials(const std::string& address,
                                                                                 const Security& security,
                                                                                 const std::string& what);

// Returns credentials that send `token` with each call without checking whose process listens. They are for clients
// that call so often that the check would be expensive.
std::shared_ptr<grpc::CallCredentials> SendToken(const std::string& token);

// The message of a client that refuses to speak to a server begins with `kRefusedHere`. The rest of the message is for
// the user.
inline constexpr char kRefusedHere[] = "refused here: ";

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_RPC_RPC_SECURITY_H_
