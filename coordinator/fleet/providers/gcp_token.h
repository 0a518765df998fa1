// Google access tokens: of a service account's file (GOOGLE_APPLICATION_CREDENTIALS), else of the machine's own
// account.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_TOKEN_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_TOKEN_H_

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/fleet/providers/bearer_api.h"

namespace rekindle::fleet {

// What a service account's token may do, at most; the machine's own account has what the machine was started with.
inline constexpr char kGcpMachineScope[] = "https://www.googleapis.com/auth/compute";
inline constexpr char kGcpPriceScope[] =
    "https://www.googleapis.com/auth/compute.readonly https://www.googleapis.com/auth/cloud-billing.readonly";

FetchToken GcpToken(Variables variables, std::string scope = kGcpMachineScope);

struct ServiceAccount {
  std::string email;
  std::string key;        // PEM.
  std::string token_uri;  // https
};
// UNAUTHENTICATED says what is missing, without the key.
absl::StatusOr<ServiceAccount> ParseServiceAccount(const std::string& text);

// A signed claim (RFC 7523, RS256) that the token service changes for a token. `now`: Unix seconds.
absl::StatusOr<std::string> SignedClaim(const ServiceAccount& account, const std::string& scope, double now);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_TOKEN_H_
