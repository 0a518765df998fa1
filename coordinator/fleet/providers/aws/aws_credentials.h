// This file finds AWS credentials by the standard chain: environment, shared file, container endpoint, instance role
// (IMDSv2).
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_CREDENTIALS_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_CREDENTIALS_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/fleet/providers/aws/aws_sign.h"
#include "coordinator/fleet/providers/http/cloud_api.h"

namespace rekindle::fleet {

// AwsCredentials is thread-compatible. Its errors never hold what was read, because it may be a secret.
class AwsCredentials {
 public:
  explicit AwsCredentials(Variables variables) : variables_(std::move(variables)) {}

  // Returns AWS credentials. Until five minutes before they expire, every call returns the same ones. `now` is in Unix
  // seconds. UNAUTHENTICATED says that there are none, or that they cannot be used. Other errors come from the service
  // that was asked for them.
  absl::StatusOr<AwsKeys> Get(double now);
  // Forgets credentials that AWS refused, so that the next Get asks for new ones.
  void Forget() { keys_.reset(); }

 private:
  absl::StatusOr<AwsKeys> Find(double now);
  absl::StatusOr<AwsKeys> FromFile() const;
  absl::StatusOr<AwsKeys> FromContainer() const;
  absl::StatusOr<AwsKeys> FromInstance(double now) const;

  const Variables variables_;
  std::optional<AwsKeys> keys_;
};

// Returns the keys of a profile in the format of ~/.aws/credentials, or NOT_FOUND where the profile has none.
absl::StatusOr<AwsKeys> ParseCredentialsFile(const std::string& text, const std::string& profile);
// Returns the keys in the answer of a container's or an instance's endpoint, which is {"AccessKeyId": ...,
// "Expiration": ...}.
absl::StatusOr<AwsKeys> ParseCredentialsDocument(const std::string& text);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_CREDENTIALS_H_
