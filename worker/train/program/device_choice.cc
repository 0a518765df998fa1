#include "worker/train/program/device_choice.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "common/agreed/exit_codes.h"
#include "common/digest/hash.h"
#include "common/log/log.h"
#include "common/process/last_words.h"
#include "common/sync/mutex.h"
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
    EndWithoutDevice(flags, absl::DeadlineExceededError(
                                absl::StrCat("the GPU's driver did not answer within ", kStartSeconds.count(), " s")));
  }

  common::Mutex mutex_;
  common::CondVar changed_;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace

absl::Status ChooseDevice(const Flags& flags, TrainerJob* job) {
  if (flags.device != kCudaDevice) return absl::OkStatus();
  const Watchdog watchdog(flags);
  if (const absl::Status plugin = LoadCudaPlugin(DefaultCudaPluginPath()).status(); !plugin.ok()) return plugin;
  if (const absl::Status loaded = models::LoadCuda(job->spec.exact); !loaded.ok()) return loaded;
  job->model.device = models::ComputeDevice::kCuda;
  return absl::OkStatus();
}

std::unique_ptr<device::Device> MakeDevice(const Flags& flags) {
  if (flags.device != kFakeDevice) return device::MakeHostDevice();
  device::FakeOptions options{.seed = common::Xxh3_64(flags.trainer.data(), flags.trainer.size()),
                              .on_report = [](const std::string& report) {
                                log::Error("the device is used wrongly", {{"report", report}});
                                std::abort();
                              }};
  if (flags.device_memory > 0) options.memory_bytes = static_cast<int64_t>(flags.device_memory);
  return device::MakeFakeDevice(options);
}

void EndWithoutDevice(const Flags& flags, const absl::Status& why) {
  const std::string words(why.message());
  log::Error("the GPU cannot be used", {{"why", words}});
  const absl::Status written = common::WriteLastWords(common::LastWordsPath(flags.dir, flags.trainer), words);
  if (!written.ok()) log::Warning("the agent will not know why", {{"error", std::string(written.message())}});
  ::_exit(common::kExitDeviceGone);
}

}  // namespace rekindle::train
