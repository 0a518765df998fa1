#include "worker/train/job_file.h"

#include <google/protobuf/util/json_util.h>

#include <utility>

#include "checkpoint/convert.h"
#include "common/file.h"
#include "common/hash.h"
#include "rekindle/v1/node.pb.h"

namespace rekindle::train {
namespace {

constexpr size_t kMaxJobFileBytes = 1 << 20;

absl::StatusOr<CheckpointSpec> ToCheckpointSpec(const v1::JobSpec::Checkpoint& checkpoint) {
  CheckpointSpec out;
  const auto precision = checkpoint::ParsePrecision(checkpoint.precision());
  if (!precision.ok()) return precision.status();
  out.precision = *precision;
  out.allow_nonfinite = checkpoint.allow_nonfinite();
  if (checkpoint.interval() == "auto") {
    out.kind = CheckpointSpec::Kind::kAuto;
    if (checkpoint.has_interruptions_per_hour()) out.interruptions_per_hour = checkpoint.interruptions_per_hour();
  } else if (checkpoint.has_every_seconds()) {
    out.kind = CheckpointSpec::Kind::kEverySeconds;
    out.every_seconds = checkpoint.every_seconds();
  } else if (checkpoint.every_steps() > 0) {
    out.kind = CheckpointSpec::Kind::kEverySteps;
    out.every_steps = checkpoint.every_steps();
  }
  return out;
}

absl::StatusOr<ComputeType> ToComputeType(const std::string& precision) {
  if (precision == "fp32") return ComputeType::kFloat32;
  if (precision == "bf16") return ComputeType::kBfloat16;
  if (precision == "fp16") return ComputeType::kFloat16;
  return absl::InvalidArgumentError("training.precision '" + precision + "' is not resolved");
}

absl::StatusOr<TrainSpec> ToTrainSpec(const v1::JobSpec& spec) {
  const auto checkpoint = ToCheckpointSpec(spec.checkpoint());
  if (!checkpoint.ok()) return checkpoint.status();
  TrainSpec out;
  out.seed = static_cast<uint64_t>(spec.seed());
  out.steps = spec.training().steps();
  out.global_batch = spec.training().global_batch();
  out.micro_batch = spec.training().micro_batch();
  out.context = spec.model().context();
  const absl::StatusOr<ComputeType> compute = ToComputeType(spec.training().precision());
  if (!compute.ok()) return compute.status();
  out.compute = *compute;
  out.exact = spec.training().reduce() == "exact";
  out.clip_norm = spec.training().clip_norm();
  out.evaluate_every = spec.training().evaluate_every();
  out.evaluate_micro_batches = spec.training().evaluate_micro_batches();
  out.checkpoint = *checkpoint;
  const v1::JobSpec::Optimizer& optimizer = spec.optimizer();
  out.optimizer = {optimizer.learning_rate(), optimizer.beta1(), optimizer.beta2(), optimizer.epsilon(),
                   optimizer.weight_decay()};
  out.schedule.kind = spec.schedule().kind() == "cosine" ? ScheduleSpec::Kind::kCosine : ScheduleSpec::Kind::kConstant;
  out.schedule.warmup_steps = spec.schedule().warmup_steps();
  out.schedule.final_ratio = spec.schedule().final_ratio();
  return out;
}

// Of the spec without what may differ between equal results: the number of workers, and where checkpoints go,
// where weights came from (the digest of these counts) and what backward keeps.
absl::StatusOr<std::string> SpecDigest(v1::JobSpec spec) {
  spec.mutable_workers()->clear_min();
  spec.mutable_workers()->clear_max();
  spec.clear_checkpoint();
  spec.mutable_model()->clear_weights();
  spec.mutable_training()->clear_activations();
  std::string json;
  if (const auto status = google::protobuf::util::MessageToJsonString(spec, &json); !status.ok()) {
    return absl::InternalError("the job's spec cannot be printed");
  }
  return common::Xxh3_128Hex(json);
}

}  // namespace

absl::StatusOr<TrainerJob> LoadJobFile(const std::string& path) {
  const auto bytes = common::ReadFile(*common::PosixFileSystem(), path, kMaxJobFileBytes);
  if (!bytes.ok()) return bytes.status();
  v1::DesiredTrainer desired;
  if (!desired.ParseFromString(*bytes)) return absl::InvalidArgumentError(path + " is not a job file of the agent");
  const v1::JobSpec& spec = desired.spec();
  if (spec.training().steps() <= 0 || spec.training().micro_batch() <= 0 || spec.training().global_batch() <= 0) {
    return absl::InvalidArgumentError(path + ": the spec in it is not resolved");
  }
  auto retention = checkpoint::RetentionOf(spec.checkpoint());
  if (!retention.ok()) return retention.status();
  auto digest = SpecDigest(spec);
  if (!digest.ok()) return digest.status();
  TrainerJob job;
  job.uid = desired.job_uid();
  job.name = desired.job_name();
  job.secret = desired.job_secret();
  auto train = ToTrainSpec(spec);
  if (!train.ok()) return train.status();
  job.spec = *std::move(train);
  job.spec_digest = *std::move(digest);
  job.model = {spec.model().kind(),    spec.model().layers(),
               spec.model().heads(),   spec.model().width(),
               spec.model().context(), spec.model().dropout(),
               job.spec.compute,       spec.training().activations() == "recompute"};
  job.weights = spec.model().weights();
  job.weights_digest = spec.model().weights_digest();
  job.text.assign(spec.data().text().begin(), spec.data().text().end());
  job.validation_fraction = spec.data().validation_fraction();
  job.max_bytes = static_cast<int64_t>(spec.data().max_bytes());
  job.store = spec.checkpoint().store();
  job.retention = *std::move(retention);
  job.threads = spec.workers().threads_per_rank();
  return job;
}

}  // namespace rekindle::train
