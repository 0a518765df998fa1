// Credentials behind rpc.h: mutual TLS with files that may be replaced while running, and the bearer token.
#ifndef REKINDLE_COMMON_RPC_SECURITY_H_
#define REKINDLE_COMMON_RPC_SECURITY_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/rpc.h"

namespace rekindle::common {

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(const std::string& address,
                                                                               const Security& security);
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeChannelCredentials(const std::string& address,
                                                                                 const Security& security);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_RPC_SECURITY_H_
