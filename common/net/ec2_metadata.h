// Reads Amazon EC2's instance metadata service, only in its version 2, where each request shows a token that expires.
#ifndef REKINDLE_COMMON_NET_EC2_METADATA_H_
#define REKINDLE_COMMON_NET_EC2_METADATA_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "common/net/http.h"

namespace rekindle::common {

inline constexpr char kEc2MetadataEndpoint[] = "http://169.254.169.254";

// Reads documents with a token that it renews. It is not thread-safe.
class Ec2Metadata {
 public:
  explicit Ec2Metadata(std::unique_ptr<Http> http) : http_(std::move(http)) {}

  // Returns the document at `path`, or an empty text if there is none. `now` is in seconds of any clock.
  absl::StatusOr<std::string> Get(const std::string& path, double now);

 private:
  absl::Status HaveToken(double now);

  const std::unique_ptr<Http> http_;
  std::string token_;
  double token_since_ = 0;
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_NET_EC2_METADATA_H_
