#include "checkpoint/wire/convert.h"

#include <cmath>

#include "checkpoint/format/state_shards.h"
#include "common/text/duration.h"

namespace rekindle::checkpoint {

void ToProto(const ShardRef& ref, v1::ShardRef* out) {
  out->set_name(ref.name);
  out->set_bytes(static_cast<double>(ref.bytes));
  out->set_xxh3(ref.xxh3);
  out->set_generation(ref.generation);
  out->set_index(ref.index);
  out->set_count(ref.count);
  out->set_plane(ref.plane);
}

void ToProto(const Manifest& manifest, v1::Manifest* out) {
  out->set_format(manifest.format);
  out->set_job_uid(manifest.job_uid);
  out->set_generation(manifest.generation);
  out->set_step(manifest.step);
  out->set_writer(manifest.writer);
  for (const ShardRef& ref : manifest.shards) ToProto(ref, out->add_shards());
  for (const TensorInfo& tensor : manifest.tensors) {
    v1::TensorInfo* one = out->add_tensors();
    one->set_name(tensor.name);
    for (int64_t dimension : tensor.shape) one->add_shape(static_cast<double>(dimension));
  }
  if (manifest.loss.has_value()) out->set_loss(*manifest.loss);
  if (manifest.validation_loss.has_value()) out->set_validation_loss(*manifest.validation_loss);
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
                 .count = shard.count(),
                 .plane = shard.plane()};
    if (!ToBytes(shard.bytes(), 1, kMaxShardBytes, &ref.bytes)) {
      return absl::InvalidArgumentError("manifest: a shard's size is not 1 byte to 64 MiB");
    }
    manifest.shards.push_back(std::move(ref));
  }
  for (const v1::TensorInfo& in_tensor : in.tensors()) {
    TensorInfo tensor{.name = in_tensor.name()};
    for (double dimension : in_tensor.shape()) {
      if (!ToBytes(dimension, 1, kMaxStateElements, &tensor.shape.emplace_back())) {
        return absl::InvalidArgumentError("manifest: a tensor has an impossible shape");
      }
    }
    manifest.tensors.push_back(std::move(tensor));
  }
  if (in.has_loss()) manifest.loss = in.loss();
  if (in.has_validation_loss()) manifest.validation_loss = in.validation_loss();
  if (absl::Status status = Validate(manifest); !status.ok()) return status;
  return manifest;
}

void ToProto(const Retention& retention, v1::Retention* out) {
  out->set_keep_last(retention.keep_last);
  out->set_keep_every(retention.keep_every);
  out->set_keep_best(retention.keep_best);
  out->set_archive_store(retention.archive_store);
  out->set_archive_seconds(retention.archive_seconds);
}

absl::StatusOr<Retention> FromProto(const v1::Retention& retention) {
  Retention read{.keep_last = retention.keep_last(),
                 .keep_every = retention.keep_every(),
                 .keep_best = retention.keep_best(),
                 .archive_store = retention.archive_store(),
                 .archive_seconds = retention.archive_seconds()};
  if (absl::Status status = CheckRetention(read); !status.ok()) return status;
  return read;
}

absl::StatusOr<Retention> RetentionOf(const v1::JobSpec::Checkpoint& spec) {
  Retention retention{.keep_last = spec.keep_last(),
                      .keep_every = spec.keep_every(),
                      .keep_best = spec.keep_best(),
                      .archive_store = spec.archive_store()};
  if (retention.archive_store.empty()) return retention;
  const auto after = common::ParseDuration(spec.archive_after());
  if (!after.ok()) return after.status();
  retention.archive_seconds = *after;
  return retention;
}

bool ToBytes(double value, int64_t lowest, int64_t highest, int64_t* bytes) {
  if (!(value >= static_cast<double>(lowest) && value <= static_cast<double>(highest)) || std::floor(value) != value) {
    return false;
  }
  *bytes = static_cast<int64_t>(value);
  return true;
}

}  // namespace rekindle::checkpoint
