// AWS's Query API: a form that is signed, an answer in XML, and what its errors mean.
#ifndef REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_QUERY_H_
#define REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_QUERY_H_

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "coordinator/fleet/providers/aws_credentials.h"
#include "coordinator/fleet/providers/cloud_api.h"
#include "coordinator/fleet/providers/xml.h"

namespace rekindle::fleet {

// Thread-compatible.
class AwsQuery {
 public:
  using Parameters = std::map<std::string, std::string>;
  struct Options {
    std::string service;
    std::string version;
    std::string region;
    std::string endpoint;  // Empty: the region's own.
  };

  // INVALID_ARGUMENT: the endpoint.
  static absl::StatusOr<std::unique_ptr<AwsQuery>> Open(Options options, Variables variables);

  // The whole answer to an action. Credentials that have expired meanwhile are fetched once more. Errors are those of
  // provider.h.
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

#endif  // REKINDLE_COORDINATOR_FLEET_PROVIDERS_AWS_QUERY_H_
