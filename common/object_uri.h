// Where a checkpoint store is, as a URI. Pure; knows no cloud library, so the coordinator checks job files with it.
//
//   file:///folder
//   s3://bucket/prefix?region=eu-west-1
//   gs://bucket/prefix
//   abfs://container@account.dfs.core.windows.net/prefix
//
// Parameters, for any but file: endpoint_override=host:port (of those that store_endpoints.h lets through), scheme=http
// (only with endpoint_override), region (s3), force_virtual_addressing=true (s3), anonymous=true. Credentials never
// belong into a URI, which is shown in job files, logs and events: they come from the cloud's own chain (environment,
// profile, instance role).
#ifndef REKINDLE_COMMON_OBJECT_URI_H_
#define REKINDLE_COMMON_OBJECT_URI_H_

#include <string>

#include "absl/status/statusor.h"

namespace rekindle::common {

struct ObjectUri {
  enum class Kind { kFile, kS3, kGcs, kAzure };
  Kind kind = Kind::kFile;
  std::string folder;   // kFile: an absolute path without a slash at its end.
  std::string bucket;   // Or Azure's container.
  std::string account;  // Azure's storage account.
  std::string prefix;   // Below the bucket; empty or "a/b".
  std::string region;
  std::string endpoint;  // "host:port", or empty: the cloud's own.
  std::string scheme = "https";
  bool anonymous = false;
  bool virtual_addressing = false;
};

// INVALID_ARGUMENT says what is wrong and what is supported, and repeats nothing that might be a secret.
absl::StatusOr<ObjectUri> ParseObjectUri(const std::string& uri);

// Whether that is "host" or "host:port".
bool IsEndpoint(const std::string& text);

// What may be shown of a URI, even of one that cannot be parsed: neither user nor parameters.
std::string PublicUri(const std::string& uri);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_OBJECT_URI_H_
