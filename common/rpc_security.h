// Credentials behind rpc.h and http_server.h: mutual TLS with files that may be replaced while running, and the bearer
// token.
#ifndef REKINDLE_COMMON_RPC_SECURITY_H_
#define REKINDLE_COMMON_RPC_SECURITY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/rpc.h"

namespace rekindle::common {

// `what`: as in ServerOptions.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(const std::string& address,
                                                                               const Security& security,
                                                                               const std::string& what);
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeChannelCredentials(const std::string& address,
                                                                                 const Security& security,
                                                                                 const std::string& what);

// Sends that token with each call, whoever listens: for what calls so often that asking for that costs.
std::shared_ptr<grpc::CallCredentials> SendToken(const std::string& token);

// Before what a client says that refuses to speak to a server; the rest of that message is for the user.
inline constexpr char kRefusedHere[] = "refused here: ";

// INVALID_ARGUMENT names the flag whose file is missing, cannot be read or does not fit the others.
absl::Status CheckTlsFiles(const Security& security);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_RPC_SECURITY_H_
