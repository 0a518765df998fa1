// AWS credentials by the standard chain: environment, shared file, container endpoint, instance role (IMDSv2).
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_CREDENTIALS_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_CREDENTIALS_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "coordinator/fleet/providers/aws_sign.h"
#include "coordinator/fleet/providers/cloud_api.h"

namespace rekindle::fleet {

// Thread-compatible. Errors never hold what was read.
class AwsCredentials {
 public:
  explicit AwsCredentials(Variables variables) : variables_(std::move(variables)) {}

  // The same until five minutes before they expire. `now`: Unix seconds. UNAUTHENTICATED: nobody has any, or they
  // cannot be used; else the errors of whom was asked.
  absl::StatusOr<AwsKeys> Get(double now);
  // They were refused: asks again next time.
  void Forget() { keys_.reset(); }

 private:
  absl::StatusOr<AwsKeys> Find(double now);
  absl::StatusOr<AwsKeys> FromFile() const;
  absl::StatusOr<AwsKeys> FromContainer() const;
  absl::StatusOr<AwsKeys> FromInstance(double now) const;

  const Variables variables_;
  std::optional<AwsKeys> keys_;
};

// The keys of a profile in the format of ~/.aws/credentials; NOT_FOUND where it has none.
absl::StatusOr<AwsKeys> ParseCredentialsFile(const std::string& text, const std::string& profile);
// What container and instance endpoints send: {"AccessKeyId": ..., "Expiration": ...}.
absl::StatusOr<AwsKeys> ParseCredentialsDocument(const std::string& text);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_CREDENTIALS_H_
