#include "checkpoint/convert.h"

#include <cmath>

namespace rekindle::checkpoint {

void ToProto(const ShardRef& ref, v1::ShardRef* out) {
  out->set_name(ref.name);
  out->set_bytes(static_cast<double>(ref.bytes));
  out->set_xxh3(ref.xxh3);
  out->set_generation(ref.generation);
  out->set_index(ref.index);
  out->set_count(ref.count);
}

void ToProto(const Manifest& manifest, v1::Manifest* out) {
  out->set_format(manifest.format);
  out->set_job_uid(manifest.job_uid);
  out->set_generation(manifest.generation);
  out->set_step(manifest.step);
  out->set_writer(manifest.writer);
  for (const ShardRef& ref : manifest.shards) ToProto(ref, out->add_shards());
  out->set_state_digest(manifest.state_digest);
  out->set_scalars(manifest.scalars);
  out->set_spec_digest(manifest.spec_digest);
}

absl::StatusOr<Manifest> FromProto(const v1::Manifest& in) {
  Manifest manifest{.format = in.format(),
                    .job_uid = in.job_uid(),
                    .generation = in.generation(),
                    .step = in.step(),
                    .writer = in.writer(),
                    .state_digest = in.state_digest(),
                    .scalars = in.scalars(),
                    .spec_digest = in.spec_digest()};
  for (const v1::ShardRef& shard : in.shards()) {
    ShardRef ref{.name = shard.name(),
                 .xxh3 = shard.xxh3(),
                 .generation = shard.generation(),
                 .index = shard.index(),
                 .count = shard.count()};
    if (!ToBytes(shard.bytes(), 1, kMaxShardBytes, &ref.bytes)) {
      return absl::InvalidArgumentError("manifest: a shard's size is not 1 byte to 64 MiB");
    }
    manifest.shards.push_back(std::move(ref));
  }
  if (absl::Status status = Validate(manifest); !status.ok()) return status;
  return manifest;
}

bool ToBytes(double value, int64_t lowest, int64_t highest, int64_t* bytes) {
  if (!(value >= static_cast<double>(lowest) && value <= static_cast<double>(highest)) || std::floor(value) != value) {
    return false;
  }
  *bytes = static_cast<int64_t>(value);
  return true;
}

}  // namespace rekindle::checkpoint
