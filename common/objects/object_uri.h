// Parses the URI of a checkpoint store. It is pure and uses no cloud library, so the coordinator can check job files
// with it.
//
//   file:///folder
//   s3://bucket/prefix?region=eu-west-1
//   gs://bucket/prefix
//   abfs://container@account.dfs.core.windows.net/prefix
//
// All kinds except file have these parameters: endpoint_override=host:port (if store_endpoints.h allows it),
// scheme=http (only with endpoint_override), region (s3), force_virtual_addressing=true (s3), anonymous=true.
// Credentials must never be in a URI, because job files, logs and events show it. They come from the cloud's own chain
// (environment, profile, instance role).
#ifndef REKINDLE_COMMON_OBJECTS_OBJECT_URI_H_
#define REKINDLE_COMMON_OBJECTS_OBJECT_URI_H_

#include <string>

#include "absl/status/statusor.h"

namespace rekindle::common {

struct ObjectUri {
  enum class Kind { kFile, kS3, kGcs, kAzure };
  Kind kind = Kind::kFile;
  // `folder` is an absolute path without a slash at its end. Only kFile has it.
  std::string folder;
  // `bucket` is Azure's container for kAzure.
  std::string bucket;
  // `account` is Azure's storage account.
  std::string account;
  // `prefix` is relative to the bucket. It is empty or looks like "a/b".
  std::string prefix;
  std::string region;
  // `endpoint` is "host:port", or empty for the cloud's own.
  std::string endpoint;
  std::string scheme = "https";
  bool anonymous = false;
  bool virtual_addressing = false;
};

// Parses a URI. INVALID_ARGUMENT says what is wrong and what is supported, and repeats nothing that might be a secret.
absl::StatusOr<ObjectUri> ParseObjectUri(const std::string& uri);

// Returns whether the text is "host" or "host:port".
bool IsEndpoint(const std::string& text);

// Returns the part of a URI that may be shown, without user and parameters. It accepts URIs that cannot be parsed.
std::string PublicUri(const std::string& uri);

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_OBJECTS_OBJECT_URI_H_
