// Converts manifests between their plain structs and protobuf, for the service and its client.
#ifndef REKINDLE_CHECKPOINT_WIRE_CONVERT_H_
#define REKINDLE_CHECKPOINT_WIRE_CONVERT_H_

#include "absl/status/statusor.h"
#include "checkpoint/format/manifest.h"
#include "checkpoint/format/retention.h"
#include "rekindle/v1/checkpoint.pb.h"
#include "rekindle/v1/job.pb.h"

namespace rekindle::checkpoint {

void ToProto(const ShardRef& ref, v1::ShardRef* out);
void ToProto(const Manifest& manifest, v1::Manifest* out);
// Converts a manifest from protobuf. Returns INVALID_ARGUMENT for what Validate refuses.
absl::StatusOr<Manifest> FromProto(const v1::Manifest& manifest);

void ToProto(const Retention& retention, v1::Retention* out);
// Converts retention rules from protobuf. Returns INVALID_ARGUMENT for what CheckRetention refuses.
absl::StatusOr<Retention> FromProto(const v1::Retention& retention);
// Returns the retention rules of a resolved job spec.
absl::StatusOr<Retention> RetentionOf(const v1::JobSpec::Checkpoint& spec);

// Converts a size in bytes, which is sent as a double. Returns false unless `value` is a whole number from `lowest` to
// `highest`.
bool ToBytes(double value, int64_t lowest, int64_t highest, int64_t* bytes);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_WIRE_CONVERT_H_
