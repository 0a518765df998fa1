#include "worker/train/sessions/job_file.h"

#include <memory>
#include <utility>

#include "checkpoint/wire/convert.h"
#include "common/files/file.h"
#include "common/spec/message_fields.h"
#include "common/spec/spec_digest.h"
#include "rekindle/v1/node.pb.h"
#include "worker/models/declared/model_spec_proto.h"
#include "worker/train/levers/optimizer_kind.h"
#include "worker/train/levers/schedule.h"
#include "worker/train/levers/step_lever.h"

namespace rekindle::train {
namespace {

constexpr size_t kMaxJobFileBytes = 1 << 20;

absl::StatusOr<CheckpointSpec> ToCheckpointSpec(const v1::JobSpec::Checkpoint& checkpoint) {
  CheckpointSpec out;
  const auto precision = checkpoint::ParsePrecision(checkpoint.precision());
  if (!precision.ok()) return precision.status();
  out.precision = *precision;
  out.allow_nonfinite = checkpoint.allow_nonfinite();
  out.memory_every_steps = checkpoint.memory_every_steps();
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

ScheduleSpec ToScheduleSpec(const v1::JobSpec::Schedule& schedule) {
  return {.kind = schedule.kind(),
          .warmup_steps = schedule.warmup_steps(),
          .final_ratio = schedule.final_ratio(),
          .decay_steps = schedule.decay_steps(),
          .cycle_steps = schedule.cycle_steps(),
          .cycle_growth = schedule.cycle_growth(),
          .factor = schedule.factor(),
          .patience = schedule.patience(),
          .min_delta = schedule.min_delta()};
}

// Copies the sections of the levers that the job has switched on.
std::map<std::string, LeverSettings> ToLevers(const v1::JobSpec& spec) {
  std::map<std::string, LeverSettings> levers;
  for (const StepLever* lever : StepLevers()) {
    const google::protobuf::Message* section =
        lever->parameters.empty() ? nullptr : common::SectionOf(spec, lever->name);
    if (section == nullptr) continue;
    for (const Parameter& parameter : lever->parameters) {
      levers[lever->name][parameter.field] = common::NumberOf(*section, parameter.field);
    }
  }
  return levers;
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
  out.sixteen_bit = spec.training().reduce() == "bf16";
  out.clip_norm = spec.training().clip_norm();
  out.evaluate_every = spec.training().evaluate_every();
  out.evaluate_micro_batches = spec.training().evaluate_micro_batches();
  out.checkpoint = *checkpoint;
  const v1::JobSpec::Optimizer& optimizer = spec.optimizer();
  out.optimizer = {.kind = optimizer.kind(),
                   .learning_rate = optimizer.learning_rate(),
                   .beta1 = optimizer.beta1(),
                   .beta2 = optimizer.beta2(),
                   .epsilon = optimizer.epsilon(),
                   .weight_decay = optimizer.weight_decay(),
                   .momentum = optimizer.momentum()};
  out.sharded_state = spec.training().optimizer_state() == "sharded";
  out.schedule = ToScheduleSpec(spec.schedule());
  out.levers = ToLevers(spec);
  if (spec.training().on_divergence() == "fail") out.on_divergence = TrainSpec::OnDivergence::kFail;
  if (spec.training().on_divergence() == "skip") out.on_divergence = TrainSpec::OnDivergence::kSkip;
  out.max_skipped = spec.training().max_skipped();
  return out;
}

absl::Status CheckKnown(const TrainSpec& spec) {
  const bool optimizer = FindOptimizer(spec.optimizer.kind) != nullptr;
  if (optimizer && FindSchedule(spec.schedule.kind) != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "this trainer does not know " +
      (optimizer ? "schedule '" + spec.schedule.kind : "optimizer '" + spec.optimizer.kind) +
      "'; install the same release on every node");
}

}  // namespace

absl::StatusOr<TrainerJob> LoadJobFile(const std::string& path, int micro_batch) {
  const auto bytes = common::ReadFile(*common::PosixFileSystem(), path, kMaxJobFileBytes);
  if (!bytes.ok()) return bytes.status();
  v1::DesiredTrainer desired;
  if (!desired.ParseFromString(*bytes)) return absl::InvalidArgumentError(path + " is not a job file of the agent");
  v1::JobSpec& spec = *desired.mutable_spec();
  if (micro_batch > 0) spec.mutable_training()->set_micro_batch(micro_batch);
  const v1::JobSpec::Training& training = spec.training();
  if (training.steps() <= 0 || !training.has_micro_batch() || training.global_batch() <= 0) {
    return absl::InvalidArgumentError(path + ": the spec in it is not resolved");
  }
  auto retention = checkpoint::RetentionOf(spec.checkpoint());
  if (!retention.ok()) return retention.status();
  std::string digest = common::SpecDigest(spec);
  if (digest.empty()) return absl::InternalError("the job's spec cannot be printed");
  TrainerJob job;
  job.uid = desired.job_uid();
  job.name = desired.job_name();
  job.secret = desired.job_secret();
  job.wanted_by = common::FromMessage(desired.identity());
  auto train = ToTrainSpec(spec);
  if (!train.ok()) return train.status();
  job.spec = *std::move(train);
  if (auto known = CheckKnown(job.spec); !known.ok()) return known;
  job.spec_digest = std::move(digest);
  job.model = models::ModelSpecOf(spec);
  job.model.compute = job.spec.compute;
  job.weights = spec.model().weights();
  job.weights_digest = spec.model().weights_digest();
  job.python = {spec.model().python(),        spec.model().folder(),
                spec.model().interpreter(),   spec.model().data_workers(),
                spec.model().start_minutes(), {spec.model().env_from().begin(), spec.model().env_from().end()},
                spec.model().bundle()};
  job.data.section = std::make_shared<const v1::JobSpec::Data>(spec.data());
  job.store = spec.checkpoint().store();
  job.retention = *std::move(retention);
  job.threads = spec.workers().threads_per_rank();
  job.micro_batch_at_most = desired.micro_batch_at_most();
  return job;
}

}  // namespace rekindle::train
