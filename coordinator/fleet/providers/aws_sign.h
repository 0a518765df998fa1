// Signature Version 4 of AWS requests
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_SIGN_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_SIGN_H_

#include <string>

#include "common/http.h"

namespace rekindle::fleet {

struct AwsKeys {
  std::string id;
  std::string secret;
  std::string session;  // Token; empty: none.
  double expires = 0;   // Unix seconds; 0: never.
};

// Adds X-Amz-Date, X-Amz-Security-Token where there is a session, and Authorization. All headers of the request and its
// Host are signed. REQUIRES: a Host header; a path with a query in canonical order and form. `now`: Unix seconds.
void SignAws(const AwsKeys& keys, const std::string& region, const std::string& service, double now,
             common::HttpRequest& request);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_SIGN_H_
