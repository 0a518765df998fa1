// Manifests between their plain structs and protobuf. For the service and its client.
#ifndef REKINDLE_CHECKPOINT_CONVERT_H_
#define REKINDLE_CHECKPOINT_CONVERT_H_

#include "absl/status/statusor.h"
#include "checkpoint/manifest.h"
#include "rekindle/v1/checkpoint.pb.h"

namespace rekindle::checkpoint {

void ToProto(const ShardRef& ref, v1::ShardRef* out);
void ToProto(const Manifest& manifest, v1::Manifest* out);
// INVALID_ARGUMENT for what Validate refuses.
absl::StatusOr<Manifest> FromProto(const v1::Manifest& manifest);

// Sizes travel as doubles: false unless `value` is a whole number from `lowest` to `highest`.
bool ToBytes(double value, int64_t lowest, int64_t highest, int64_t* bytes);

}  // namespace rekindle::checkpoint

#endif  // REKINDLE_CHECKPOINT_CONVERT_H_
