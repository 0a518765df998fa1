// Is rekindle-own-trainer, whose model is the user's own: a Python module that runs in a process beside the trainer. It
// links no LibTorch, because the user's Python has a torch of its own.
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/bundle/bundle.h"
#include "common/digest/hash.h"
#include "common/process/command.h"
#include "worker/numeric/pinned_environment.h"
#include "worker/own_model/child/task_folder.h"
#include "worker/own_model/model/own_batches.h"
#include "worker/own_model/model/own_model.h"
#include "worker/own_model/model/rehearsal.h"
#include "worker/train/program/trainer_main.h"
#include "worker/user_code/code_setting.h"

namespace rekindle::train {
namespace {

const char* WordOf(ComputeType compute) {
  return compute == ComputeType::kBfloat16 ? "bf16" : compute == ComputeType::kFloat16 ? "fp16" : "fp32";
}

class OwnRuntime final : public JobRuntime {
 public:
  const char* program() const override { return "rekindle-own-trainer"; }
  void Prepare(int) override {}
  absl::StatusOr<TrainerDevice> OpenDevice(const Flags& flags, TrainerJob* job) override {
    return ChooseDevice(flags, job->spec.exact, {.shares = &shares_});
  }
  absl::StatusOr<std::unique_ptr<Model>> OpenModel(const Flags& flags, const TrainerJob& job,
                                                   const ModelHooks& hooks) override;
  absl::StatusOr<data::OpenedData> OpenData(const Flags&, const TrainerJob& job) override;
  models::GpuMemory MemoryOfGpu() override { return {}; }
  absl::StatusOr<std::string> Probe(const TrainerJob& job) override;

 private:
  device::SharedMemories shares_;
  // `micro_batch_` is the size of the micro-batches with which the job has begun, once that is known.
  int micro_batch_ = 0;
  // `samples_` stands for the data, once they were looked at.
  std::string samples_;
  // `model_` is the model that the caller of OpenModel() owns.
  own_model::OwnModel* model_ = nullptr;
};

// Says how the job's code is kept from what is not its own, and with which environment it runs.
absl::Status Isolate(const Flags& flags, const TrainerJob& job, own_model::ModelProcessOptions& process) {
  const std::optional<user_code::Isolation> isolation = user_code::IsolationOf(flags.isolation);
  if (!isolation) return absl::InvalidArgumentError(absl::StrCat("--isolation: there is no '", flags.isolation, "'"));
  // Without an agent, as in tests, the trainer makes the folder itself.
  const bool has_folder = !flags.code_folder.empty();
  const user_code::CodeSetting setting = {.isolation = *isolation,
                                          .uid = flags.code_uid,
                                          .folder = has_folder ? flags.code_folder : flags.job_file + ".code",
                                          .interpreter = process.interpreter,
                                          .task_folder = process.folder,
                                          .data_roots = flags.data_roots,
                                          .memory_bytes = flags.memory};
  if (!has_folder) {
    if (absl::Status made = user_code::MakeCodeFolder(setting); !made.ok()) return made;
  }
  const std::vector<std::string> own = common::OwnEnvironment();
  auto confinement = user_code::Confine(setting, own);
  if (!confinement.ok()) return confinement.status();
  const auto values = user_code::ReadValues(absl::StrCat(flags.dir, "/", user_code::kValuesFile), job.python.env_from);
  if (!values.ok()) return values.status();
  const bool sixteen_bit = job.spec.compute != ComputeType::kFloat32;
  process.environment =
      user_code::EnvironmentOf(setting, own, models::PinnedEnvironment(job.threads, sixteen_bit), *values);
  process.scrubber = std::make_shared<const user_code::Scrubber>(*values);
  process.faults_file = user_code::FaultsFileOf(setting.folder, flags.trainer);
  if (!flags.warm.empty()) {
    const bool has_uid = *confinement != nullptr;
    process.warm = std::make_shared<own_model::WarmLine>(flags.warm,
                                                         has_uid ? std::optional<uid_t>(flags.code_uid) : std::nullopt);
  }
  process.confinement = *std::move(confinement);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Model>> OwnRuntime::OpenModel(const Flags& flags, const TrainerJob& job,
                                                             const ModelHooks& hooks) {
  own_model::OwnModelParts parts;
  parts.process.interpreter = job.python.interpreter.empty() ? flags.python : job.python.interpreter;
  if (parts.process.interpreter.empty()) {
    return absl::FailedPreconditionError(
        "this node has no Python: start its rekindle-worker with --python PATH, or set model.interpreter");
  }
  if (std::error_code ignored; !std::filesystem::exists(parts.process.interpreter, ignored)) {
    return absl::FailedPreconditionError(
        absl::StrCat("this node has no ", parts.process.interpreter, ": ",
                     job.python.interpreter.empty()
                         ? "start its rekindle-worker with --python and the path of a Python that is there"
                         : "install it there, or leave out model.interpreter for the node's own Python"));
  }
  parts.process.task = job.python.task;
  const bool has_bundle = !job.python.bundle.empty();
  parts.process.folder = has_bundle ? common::NodeBundleFolder(flags.dir, job.python.bundle) : job.python.folder;
  if (!flags.task_folder.empty()) parts.process.folder = flags.task_folder;
  // The agent has put a bundle where it is, so it is not a folder that the job has chosen.
  const absl::Status folder =
      has_bundle ? absl::OkStatus() : own_model::CheckTaskFolder(parts.process.folder, job.data.roots);
  if (!folder.ok()) return folder;
  if (absl::Status isolated = Isolate(flags, job, parts.process); !isolated.ok()) return isolated;
  parts.process.seed = job.spec.seed;
  parts.process.precision = WordOf(job.spec.compute);
  parts.process.exact = job.spec.exact;
  parts.process.threads = job.threads;
  parts.process.data_workers = job.python.data_workers;
  if (job.python.start_minutes > 0) {
    parts.process.start_seconds = parts.limits.first_seconds = 60.0 * job.python.start_minutes;
  }
  parts.job = {.exact = job.spec.exact,
               .sixteen_bit = job.spec.sixteen_bit,
               .learning_rate = job.spec.optimizer.learning_rate,
               .weight_decay = job.spec.optimizer.weight_decay,
               .tries_sizes = flags.try_micro_batch > 0,
               .memory_bytes = flags.memory};
  parts.weights = &shares_;
  parts.go_on = hooks.go_on;
  parts.note = hooks.note;
  auto model = own_model::OwnModel::Create(std::move(parts));
  if (!model.ok()) return model.status();
  model_ = model->get();
  return std::unique_ptr<Model>(*std::move(model));
}

absl::StatusOr<data::OpenedData> OwnRuntime::OpenData(const Flags&, const TrainerJob& job) {
  if (micro_batch_ == 0) micro_batch_ = job.spec.micro_batch;
  const own_model::Description& described = model_->description();
  absl::Status fits = own_model::MayEvaluate(described, job.spec.evaluate_every);
  if (fits.ok()) fits = own_model::MayResize(described, micro_batch_, job.spec.micro_batch);
  if (!fits.ok()) return fits;
  auto batches = own_model::OwnBatches::Create(
      *model_, {.seed = job.spec.seed, .global_batch = job.spec.global_batch, .micro_batch = job.spec.micro_batch},
      /*checks_samples=*/job.spec.exact);
  if (!batches.ok()) return batches.status();
  if (samples_.empty()) {
    absl::StatusOr<std::string> samples = own_model::FingerprintOf(*model_, job.spec.seed, job.spec.exact);
    if (!samples.ok()) return samples.status();
    samples_ = *std::move(samples);
  }
  // Jobs of every kind of sum compare this, and only exact ones the probe. Each member makes the initial state by
  // itself, so members with other weights, buffers, layouts or optimizer groups would train different models.
  data::OpenedData opened{.fingerprint = common::Xxh3_128Hex(absl::StrCat(samples_, "\n", described.digest, "\n",
                                                                          own_model::TextOf(described.groups)))};
  opened.batches = *std::move(batches);
  return opened;
}

absl::StatusOr<std::string> OwnRuntime::Probe(const TrainerJob& job) {
  const absl::StatusOr<std::string> computed =
      own_model::Rehearse(*model_, {.seed = job.spec.seed, .samples = job.spec.micro_batch, .exact = job.spec.exact});
  if (!computed.ok()) return computed.status();
  const own_model::Description& described = model_->description();
  return common::Xxh3_128Hex(absl::StrCat(described.python_version, "\n", described.torch_version, "\n",
                                          described.digest, "\n", own_model::TextOf(described.groups), "\n",
                                          *computed));
}

}  // namespace
}  // namespace rekindle::train

int main(int argc, char** argv) {
  rekindle::train::OwnRuntime runtime;
  return rekindle::train::RunTrainer(argc, argv, runtime);
}
