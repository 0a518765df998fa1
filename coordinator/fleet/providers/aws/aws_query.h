// This file calls AWS's Query API. A request is a signed form, the answer is XML, and errors are translated.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_QUERY_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_QUERY_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "coordinator/fleet/providers/aws/aws_credentials.h"
#include "coordinator/fleet/providers/aws/xml.h"
#include "coordinator/fleet/providers/http/cloud_api.h"

namespace rekindle::fleet {

// AwsQuery is thread-compatible.
class AwsQuery {
 public:
  using Parameters = std::map<std::string, std::string>;
  struct Options {
    std::string service;
    std::string version;
    std::string region;
    // An empty `endpoint` means the endpoint that AWS itself has for the service in the region.
    std::string endpoint;
  };

  // Returns a client of one AWS service. INVALID_ARGUMENT says that the endpoint is wrong.
  static absl::StatusOr<std::unique_ptr<AwsQuery>> Open(Options options, Variables variables);

  // Calls an action, and returns the whole document that AWS answers. Credentials that have expired meanwhile are
  // fetched once more. Errors are those of provider.h.
  absl::StatusOr<Xml> Call(const std::string& action, const Parameters& parameters);

 private:
  AwsQuery(Options options, std::string host, std::unique_ptr<common::Http> http, Variables variables)
      : options_(std::move(options)),
        host_(std::move(host)),
        http_(std::move(http)),
        credentials_(std::move(variables)) {}
  absl::StatusOr<Xml> CallOnce(const std::string& action, const Parameters& parameters);

  const Options options_;
  const std::string host_;
  const std::unique_ptr<common::Http> http_;
  AwsCredentials credentials_;
};

}  // namespace rekindle::fleet

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_AWS_QUERY_H_
