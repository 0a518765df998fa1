// Is rekindle-trainer, whose models LibTorch computes.
#include <memory>
#include <string>
#include <utility>

#include "worker/data/opening/open_data.h"
#include "worker/models/declared/compute_device.h"
#include "worker/models/registry/model_registry.h"
#include "worker/models/registry/numeric_runtime.h"
#include "worker/train/program/trainer_main.h"

namespace rekindle::train {
namespace {

class TorchRuntime final : public JobRuntime {
 public:
  const char* program() const override { return "rekindle-trainer"; }
  void Prepare(int threads) override { models::PinThreads(threads); }
  absl::StatusOr<TrainerDevice> OpenDevice(const Flags& flags, TrainerJob* job) override {
    absl::StatusOr<TrainerDevice> device = ChooseDevice(flags, job->spec.exact, {.load_cuda = models::LoadCuda});
    if (device.ok() && flags.device == kCudaDevice) job->model.device = models::ComputeDevice::kCuda;
    return device;
  }
  absl::StatusOr<std::unique_ptr<Model>> OpenModel(const Flags&, const TrainerJob& job, const ModelHooks&) override {
    return models::MakeModel(job.model);
  }
  absl::StatusOr<data::OpenedData> OpenData(const Flags& flags, const TrainerJob& job) override {
    return data::OpenData(job.data,
                          {.seed = job.spec.seed,
                           .context = job.model.context,
                           .classes = job.model.classes,
                           .global_batch = job.spec.global_batch,
                           .micro_batch = job.spec.micro_batch},
                          flags.dir + "/data");
  }
  models::GpuMemory MemoryOfGpu() override { return models::MemoryOfGpu(); }
  absl::StatusOr<std::string> Probe(const TrainerJob& job) override {
    return models::ProbeDigest(job.model, job.spec.micro_batch);
  }
};

}  // namespace
}  // namespace rekindle::train

int main(int argc, char** argv) {
  rekindle::train::TorchRuntime runtime;
  return rekindle::train::RunTrainer(argc, argv, runtime);
}
