// Sends one small HTTP request at a time to a metadata service, a cloud's API or a webhook of a user.
#ifndef REKINDLE_COMMON_NET_HTTP_H_
#define REKINDLE_COMMON_NET_HTTP_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rekindle::common {

struct HttpRequest {
  std::string method = "GET";
  std::string path;
  std::map<std::string, std::string> headers;
  // `body` is JSON, unless the headers have another Content-Type.
  std::string body;
};

struct HttpAnswer {
  int status = 0;
  // `headers` maps the names of the answer's headers, in lower case, to their values.
  std::map<std::string, std::string> headers;
  std::string body;
};

// Sends requests. It is not thread-safe, except for Stop. Tests have their own implementation.
class Http {
 public:
  virtual ~Http() = default;
  // Sends a request. Any status except a redirect is an answer. Errors are UNAVAILABLE (nobody answers),
  // DEADLINE_EXCEEDED (no whole answer in time), RESOURCE_EXHAUSTED (a body over the limit) and FAILED_PRECONDITION (a
  // redirect or a bad certificate). They name the endpoint, but never the path or a header, which may be secret.
  virtual absl::StatusOr<HttpAnswer> Send(const HttpRequest& request) = 0;
  // Ends the running request with an error. It may be called from any thread.
  virtual void Stop() {}
};

// Says which endpoints may be reached.
enum class Reach {
  // kLocal allows http on a numeric link-local or loopback address, and http or https on `allowed_host`.
  kLocal,
  // kSecure allows https, and http where kLocal allows it.
  kSecure,
  // kAny allows http and https.
  kAny,
};

struct HttpOptions {
  // `seconds` is the time from the call to the last byte of the answer.
  double seconds = 1;
  // `max_body` limits the body of an answer, in bytes.
  size_t max_body = 64 << 10;
  Reach reach = Reach::kLocal;
  // `ca_file` says for https who may sign the server's certificate. If it is empty, the authorities that the system
  // trusts may.
  std::string ca_file;
  // `cert_file` is this client's certificate in PEM, and `key_file` its key, for a server that requires one.
  std::string cert_file;
  std::string key_file;
  // `allowed_host` is the host that kLocal allows beside link-local and loopback addresses.
  std::string allowed_host;
};

// Returns OK if `options.reach` allows the endpoint. INVALID_ARGUMENT says what is allowed.
absl::Status CheckEndpoint(const std::string& endpoint, const HttpOptions& options);

// Opens an endpoint such as "http://169.254.169.254". It uses no proxy, follows no redirect, and makes one connection
// per request.
absl::StatusOr<std::unique_ptr<Http>> OpenHttp(const std::string& endpoint, const HttpOptions& options = {});

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_NET_HTTP_H_
