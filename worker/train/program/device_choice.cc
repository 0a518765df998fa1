#include "worker/train/program/device_choice.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/agreed/exit_codes.h"
#include "common/digest/hash.h"
#include "common/log/log.h"
#include "common/process/last_words.h"
#include "common/sync/mutex.h"
#include "worker/comm/nccl/fake_nccl.h"
#include "worker/device/cuda/cuda_device.h"
#include "worker/device/fake/fake_device.h"
#include "worker/device/host/host_device.h"
#include "worker/models/declared/device.h"
#include "worker/train/program/cuda_plugin.h"

namespace rekindle::train {

namespace {

// A driver that works answers within a fraction of `kStartSeconds`, even if LibTorch's gigabytes come from a slow disk.
constexpr auto kStartSeconds = std::chrono::seconds(180);

// Ends the process unless it is destroyed in time, because a call into a driver that hangs never returns.
class Watchdog {
 public:
  explicit Watchdog(const Flags& flags) : thread_([this, &flags] { Watch(flags); }) {}
  ~Watchdog() {
    {
      const common::MutexLock lock(mutex_);
      done_ = true;
    }
    changed_.NotifyAll();
    thread_.join();
  }

 private:
  void Watch(const Flags& flags) {
    common::MutexLock lock(mutex_);
    const bool in_time =
        changed_.WaitFor(lock, kStartSeconds, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return done_; });
    if (in_time) return;
    EndWithoutDevice(flags, common::kExitDeviceGone,
                     absl::StrCat("the GPU's driver did not answer within ", kStartSeconds.count(), " s"));
  }

  common::Mutex mutex_;
  common::CondVar changed_;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Loads what computing on a GPU needs, and makes the GPU a device.
absl::StatusOr<std::unique_ptr<device::Device>> OpenGpu(const Flags& flags, bool repeatable) {
  const Watchdog watchdog(flags);
  const absl::StatusOr<CudaPlugin> plugin = LoadCudaPlugin(DefaultCudaPluginPath());
  if (!plugin.ok()) return plugin.status();
  if (const absl::Status loaded = models::LoadCuda(repeatable); !loaded.ok()) return loaded;
  return device::MakeCudaDevice(plugin->api());
}

absl::StatusOr<TrainerDevice> MakeFake(const Flags& flags) {
  TrainerDevice made;
  device::FakeOptions options{.seed = common::Xxh3_64(flags.trainer.data(), flags.trainer.size()),
                              .on_report = [](const std::string& report) {
                                log::Error("the device is used wrongly", {{"report", report}});
                                std::abort();
                              }};
  if (flags.device_memory > 0) options.memory_bytes = static_cast<int64_t>(flags.device_memory);
  if (const char* planned = std::getenv("REKINDLE_FAKE_FAULT"); planned != nullptr && *planned != 0) {
    absl::StatusOr<FaultPlan> plan = ParseFaultPlan(planned);
    if (!plan.ok()) return plan.status();
    made.fault = std::make_shared<PlannedFault>(*std::move(plan));
    options.before_run = [fault = made.fault.get()](device::Queue queue, const char* name) {
      fault->BeforeOperation(queue, name);
    };
    comm::SetFakeNcclFaults([fault = made.fault](comm::FakeNcclCall call, int) { return fault->AtNccl(call); });
  }
  std::unique_ptr<device::FakeDevice> fake = device::MakeFakeDevice(options);
  if (made.fault != nullptr) made.fault->SetDevice(*fake);
  made.device = std::move(fake);
  made.nccl = {.api = &comm::FakeNccl()};
  return made;
}

}  // namespace

absl::StatusOr<TrainerDevice> ChooseDevice(const Flags& flags, TrainerJob* job) {
  if (flags.device == kFakeDevice) return MakeFake(flags);
  TrainerDevice made;
  if (flags.device != kCudaDevice) {
    made.device = device::MakeHostDevice();
    return made;
  }
  absl::StatusOr<std::unique_ptr<device::Device>> gpu = OpenGpu(flags, job->spec.exact);
  if (!gpu.ok()) EndWithoutDevice(flags, common::kExitDeviceGone, std::string(gpu.status().message()));
  job->model.device = models::ComputeDevice::kCuda;
  made.device = *std::move(gpu);
  return made;
}

void EndWithoutDevice(const Flags& flags, int exit_code, const std::string& why) {
  log::Error("ends, because of its device", {{"why", why}});
  const absl::Status written = common::WriteLastWords(common::LastWordsPath(flags.dir, flags.trainer), why);
  if (!written.ok()) log::Warning("the agent will not know why", {{"error", std::string(written.message())}});
  ::_exit(exit_code);
}

void EndWithFailedDevice(const Flags& flags, const device::Health& health) {
  const bool is_gone = health.state == device::Health::State::kDeviceLost;
  EndWithoutDevice(flags, is_gone ? common::kExitDeviceGone : common::kExitContextLost, health.words);
}

}  // namespace rekindle::train
