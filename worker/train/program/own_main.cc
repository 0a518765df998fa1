// Is rekindle-own-trainer, whose model is the user's own: a Python module that runs in a process beside the trainer. It
// links no LibTorch, because the user's Python has a torch of its own.
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/digest/hash.h"
#include "common/process/command.h"
#include "worker/own_model/model/own_batches.h"
#include "worker/own_model/model/own_model.h"
#include "worker/train/program/trainer_main.h"

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
                                                   const std::function<bool()>& go_on) override;
  absl::StatusOr<data::OpenedData> OpenData(const Flags&, const TrainerJob& job) override;
  models::GpuMemory MemoryOfGpu() override { return {}; }
  absl::StatusOr<std::string> Probe(const TrainerJob&) override {
    const own_model::Description& described = model_->description();
    const std::string identity =
        absl::StrCat(described.python_version, "\n", described.torch_version, "\n", described.digest);
    return common::Xxh3_128Hex(identity);
  }

 private:
  device::SharedMemories shares_;
  // `model_` is the model that the caller of OpenModel() owns.
  own_model::OwnModel* model_ = nullptr;
};

absl::StatusOr<std::unique_ptr<Model>> OwnRuntime::OpenModel(const Flags& flags, const TrainerJob& job,
                                                             const std::function<bool()>& go_on) {
  own_model::OwnModelParts parts;
  parts.process.interpreter = job.python.interpreter.empty() ? flags.python : job.python.interpreter;
  if (parts.process.interpreter.empty()) {
    return absl::InvalidArgumentError(
        "this node has no Python: start its rekindle-worker with --python PATH, or set model.interpreter");
  }
  parts.process.task = job.python.task;
  parts.process.folder = job.python.folder;
  parts.process.faults_file = absl::StrCat(flags.job_file, ".faults");
  parts.process.environment = common::OwnEnvironment();
  // Otherwise Python would draw the order of sets anew at each start.
  std::erase_if(parts.process.environment,
                [](const std::string& entry) { return absl::StartsWith(entry, "PYTHONHASHSEED="); });
  parts.process.environment.push_back("PYTHONHASHSEED=0");
  parts.process.seed = job.spec.seed;
  parts.process.precision = WordOf(job.spec.compute);
  parts.process.exact = job.spec.exact;
  parts.process.threads = job.threads;
  parts.weights = &shares_;
  parts.go_on = go_on;
  auto model = own_model::OwnModel::Create(std::move(parts));
  if (!model.ok()) return model.status();
  model_ = model->get();
  return std::unique_ptr<Model>(*std::move(model));
}

absl::StatusOr<data::OpenedData> OwnRuntime::OpenData(const Flags&, const TrainerJob& job) {
  auto batches = own_model::OwnBatches::Create(
      *model_, {.seed = job.spec.seed, .global_batch = job.spec.global_batch, .micro_batch = job.spec.micro_batch});
  if (!batches.ok()) return batches.status();
  const own_model::Description& described = model_->description();
  data::OpenedData opened{.fingerprint =
                              common::Xxh3_128Hex(absl::StrCat(described.samples, "/", described.validation_samples))};
  opened.batches = *std::move(batches);
  return opened;
}

}  // namespace
}  // namespace rekindle::train

int main(int argc, char** argv) {
  rekindle::train::OwnRuntime runtime;
  return rekindle::train::RunTrainer(argc, argv, runtime);
}
