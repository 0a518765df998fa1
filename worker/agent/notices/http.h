// One small request at a time to a metadata service or a cluster's API.
#ifndef REKINDLE_WORKER_AGENT_NOTICES_HTTP_H_
#define REKINDLE_WORKER_AGENT_NOTICES_HTTP_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::agent {

struct HttpRequest {
  std::string method = "GET";
  std::string path;
  std::map<std::string, std::string> headers;
  std::string body;  // JSON.
};

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  // Names in lower case.
  std::string body;
};

// Not thread-safe. Tests have their own.
class Http {
 public:
  virtual ~Http() = default;
  // Any status but a redirect is an answer. Errors: UNAVAILABLE (nobody there), DEADLINE_EXCEEDED (no whole answer in
  // time), RESOURCE_EXHAUSTED (a body over the limit), FAILED_PRECONDITION (a redirect, a certificate).
  virtual absl::StatusOr<HttpAnswer> Send(const HttpRequest& request) = 0;
};

struct HttpOptions {
  double seconds = 1;          // For a connection, for each part of an answer, and for a whole body.
  size_t max_body = 64 << 10;  // Bytes.
  std::string ca_file;         // With https: who may sign the server's certificate.
  std::string allowed_host;    // Beside link-local and loopback addresses.
};

// OK for http on a numeric link-local or loopback address, and for http or https on `allowed_host`: nobody else is
// asked whether this machine goes. INVALID_ARGUMENT says what is allowed.
absl::Status CheckEndpoint(const std::string& endpoint, const std::string& allowed_host);

// `endpoint`: "http://169.254.169.254". No proxy, no redirect, a connection a request.
absl::StatusOr<std::unique_ptr<Http>> OpenHttp(const std::string& endpoint, const HttpOptions& options = {});

}  // namespace rekindle::agent

#endif  // REKINDLE_WORKER_AGENT_NOTICES_HTTP_H_
