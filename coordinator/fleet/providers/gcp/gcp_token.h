// This file fetches Google access tokens. It uses a service account's file (GOOGLE_APPLICATION_CREDENTIALS), or else
// the machine's own account.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_TOKEN_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_TOKEN_H_

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/fleet/providers/http/bearer_api.h"

namespace rekindle::fleet {

// A scope limits what a service account's token may do. The machine's own account has the scopes that the machine was
// started with.
inline constexpr char kGcpMachineScope[] = "https://www.googleapis.com/auth/compute";
inline constexpr char kGcpPriceScope[] =
    "https://www.googleapis.com/auth/compute.readonly https://www.googleapis.com/auth/cloud-billing.readonly";

FetchToken GcpToken(Variables variables, std::string scope = kGcpMachineScope);

struct ServiceAccount {
  std::string email;
  // `key` is the private key of the service account, in PEM.
  std::string key;
  // `token_uri` is the https URL from which the service account gets its tokens.
  std::string token_uri;
};
// Parses the file of a service account. UNAUTHENTICATED says what is missing, without the key.
absl::StatusOr<ServiceAccount> ParseServiceAccount(const std::string& text);

// Returns a signed claim (RFC 7523, RS256) that Google's token service exchanges for a token. `now` is in Unix seconds.
absl::StatusOr<std::string> SignedClaim(const ServiceAccount& account, const std::string& scope, double now);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_GCP_TOKEN_H_
