// Google access tokens: of a service account's file (GOOGLE_APPLICATION_CREDENTIALS), else of the machine's own
// account.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_TOKEN_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_TOKEN_H_

#include <string>

#include "absl/status/statusor.h"
#include "coordinator/fleet/providers/bearer_api.h"

namespace rekindle::fleet {

FetchToken GcpToken(Variables variables);

struct ServiceAccount {
  std::string email;
  std::string key;        // PEM.
  std::string token_uri;  // https
};
// UNAUTHENTICATED says what is missing, without the key.
absl::StatusOr<ServiceAccount> ParseServiceAccount(const std::string& text);

// A signed claim (RFC 7523, RS256) that the token service changes for a token. `now`: Unix seconds.
absl::StatusOr<std::string> SignedClaim(const ServiceAccount& account, double now);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_GCP_TOKEN_H_
