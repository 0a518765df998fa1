// One small HTTP request at a time: to a metadata service, a cloud's API, somebody's webhook.
#ifndef REKINDLE_COMMON_HTTP_H_
#define REKINDLE_COMMON_HTTP_H_

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
  std::string body;  // JSON, unless the headers have another Content-Type.
};

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  // Names in lower case.
  std::string body;
};

// Not thread-safe but for Stop. Tests have their own.
class Http {
 public:
  virtual ~Http() = default;
  // Any status but a redirect is an answer. Errors: UNAVAILABLE (nobody there), DEADLINE_EXCEEDED (no whole answer in
  // time), RESOURCE_EXHAUSTED (a body over the limit), FAILED_PRECONDITION (a redirect, a certificate). They name the
  // endpoint, never the path or a header: those may be secret.
  virtual absl::StatusOr<HttpAnswer> Send(const HttpRequest& request) = 0;
  // From any thread: ends the request that runs, with an error.
  virtual void Stop() {}
};

enum class Reach {
  kLocal,   // http on a numeric link-local or loopback address, and http or https on `allowed_host`.
  kSecure,  // https; http where kLocal has it.
  kAny,     // http or https.
};

struct HttpOptions {
  double seconds = 1;          // From the call to the last byte of the answer.
  size_t max_body = 64 << 10;  // Bytes.
  Reach reach = Reach::kLocal;
  std::string ca_file;    // With https: who may sign the server's certificate. Empty: whom the system trusts.
  std::string cert_file;  // PEM, with key_file: our own, where the server asks for it.
  std::string key_file;
  std::string allowed_host;  // Of kLocal: beside link-local and loopback addresses.
};

// OK where `options.reach` allows it. INVALID_ARGUMENT says what is allowed.
absl::Status CheckEndpoint(const std::string& endpoint, const HttpOptions& options);

// `endpoint`: "http://169.254.169.254". No proxy, no redirect, a connection a request.
absl::StatusOr<std::unique_ptr<Http>> OpenHttp(const std::string& endpoint, const HttpOptions& options = {});

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_HTTP_H_
