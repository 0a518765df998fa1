// This file signs AWS requests with Signature Version 4
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_SIGN_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_SIGN_H_

#include <string>

#include "common/net/http.h"

namespace rekindle::fleet {

struct AwsKeys {
  std::string id;
  std::string secret;
  // `session` is the session token. It is empty where there is none.
  std::string session;
  // `expires` is in Unix seconds. 0 means that the keys never expire.
  double expires = 0;
};

// Signs a request with the headers X-Amz-Date and Authorization, and X-Amz-Security-Token where there is a session
// token. The signature covers all headers of the request, including Host. `now` is in Unix seconds. REQUIRES: the
// request has a Host header, and its path and query are in canonical order and form.
void SignAws(const AwsKeys& keys, const std::string& region, const std::string& service, double now,
             common::HttpRequest& request);

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_SIGN_H_
