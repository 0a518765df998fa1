#include "worker/train/program/device_choice.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
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

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns whether several ranks may share a GPU. This version of NCCL must be able to, and the environment must say so.
bool SharesGpu(int nccl_version) {
  constexpr int kFirstThatCan = 23000;
  return nccl_version >= kFirstThatCan && Environment("NCCL_MULTI_RANK_GPU_ENABLE") == "1";
}

// Describes the GPU that the agent has given to this trainer, and the NCCL that comes with it.
ReportedDevice DescribeGpu(const RekindleNcclApi* nccl) {
  ReportedDevice described{.uuid = Environment("CUDA_VISIBLE_DEVICES")};
  char error[256] = "";
  if (nccl == nullptr) {
    described.no_nccl = "the CUDA plugin was built without it";
  } else if (nccl->version(&described.nccl_version, error, sizeof(error)) != kRekindleNcclDone) {
    described.nccl_version = 0;
    described.no_nccl = error;
  }
  described.shares_gpu = SharesGpu(described.nccl_version);
  return described;
}

// Loads what computing on a GPU needs, and makes the GPU a device.
absl::StatusOr<TrainerDevice> OpenGpu(const Flags& flags, bool repeatable, const DeviceParts& parts) {
  const Watchdog watchdog(flags);
  const absl::StatusOr<CudaPlugin> plugin = LoadCudaPlugin(DefaultCudaPluginPath());
  if (!plugin.ok()) return plugin.status();
  if (parts.load_cuda) {
    if (const absl::Status loaded = parts.load_cuda(repeatable); !loaded.ok()) return loaded;
  }
  absl::StatusOr<std::unique_ptr<device::Device>> gpu = device::MakeCudaDevice(plugin->api());
  if (!gpu.ok()) return gpu.status();
  const RekindleNcclApi* nccl = plugin->api().nccl;
  TrainerDevice made{.device = *std::move(gpu), .described = DescribeGpu(nccl)};
  if (made.described->nccl_version > 0) made.nccl.api = nccl;
  return made;
}

// Describes the fake device of a trainer. For tests, REKINDLE_FAKE_GPU is the UUID of its GPU, and REKINDLE_FAKE_NCCL
// is the version of its NCCL, or 0 for none.
ReportedDevice DescribeFake(const Flags& flags) {
  ReportedDevice described{.uuid = Environment("REKINDLE_FAKE_GPU"), .nccl_version = comm::kFakeNcclVersion};
  if (described.uuid.empty()) described.uuid = absl::StrCat("fake GPU of ", flags.trainer);
  const std::string version = Environment("REKINDLE_FAKE_NCCL");
  if (!version.empty() && !absl::SimpleAtoi(version, &described.nccl_version)) described.nccl_version = 0;
  if (described.nccl_version == 0) described.no_nccl = "a test has taken it away";
  described.shares_gpu = SharesGpu(described.nccl_version);
  return described;
}

// Ends the process, because the device was used wrongly. The job goes on without it, as after any death, so for tests
// REKINDLE_FAKE_REPORTS is a folder into which the report is written.
void EndWithReport(const std::string& report) {
  log::Error("the device is used wrongly", {{"report", report}});
  if (const std::string folder = Environment("REKINDLE_FAKE_REPORTS"); !folder.empty()) {
    std::ofstream(absl::StrCat(folder, "/", ::getpid())) << report << "\n";
  }
  std::abort();
}

// For tests, REKINDLE_FAKE_START makes the device one that cannot be used. It has the words of its driver.
absl::StatusOr<TrainerDevice> MakeFake(const Flags& flags) {
  if (const std::string why = Environment("REKINDLE_FAKE_START"); !why.empty()) {
    EndWithoutDevice(flags, common::kExitDeviceGone, why);
  }
  TrainerDevice made;
  device::FakeOptions options{.seed = common::Xxh3_64(flags.trainer.data(), flags.trainer.size()),
                              .on_report = EndWithReport};
  if (flags.device_memory > 0) options.memory_bytes = static_cast<int64_t>(flags.device_memory);
  if (int64_t bytes = 0; absl::SimpleAtoi(Environment("REKINDLE_FAKE_MEMORY"), &bytes)) options.memory_bytes = bytes;
  (void)absl::SimpleAtoi(Environment("REKINDLE_FAKE_BUCKET"), &made.nccl_bucket_bytes);
  if (const std::string planned = Environment("REKINDLE_FAKE_FAULT"); !planned.empty()) {
    absl::StatusOr<FaultPlan> plan = ParseFaultPlan(planned);
    if (!plan.ok()) return plan.status();
    made.fault = std::make_shared<PlannedFault>(*std::move(plan), EndWithReport);
    options.before_run = [fault = made.fault.get()](device::Queue queue, const char* name) {
      fault->BeforeOperation(queue, name);
    };
    comm::SetFakeNcclFaults([fault = made.fault](comm::FakeNcclCall call, int) { return fault->AtNccl(call); });
  }
  std::unique_ptr<device::FakeDevice> fake = device::MakeFakeDevice(options);
  if (made.fault != nullptr) made.fault->SetDevice(*fake);
  made.device = std::move(fake);
  made.described = DescribeFake(flags);
  if (made.described->nccl_version > 0) made.nccl.api = &comm::FakeNccl();
  return made;
}

}  // namespace

absl::StatusOr<TrainerDevice> ChooseDevice(const Flags& flags, bool exact, const DeviceParts& parts) {
  if (flags.device == kFakeDevice) return MakeFake(flags);
  TrainerDevice made;
  if (flags.device != kCudaDevice) {
    made.device = device::MakeHostDevice(parts.shares);
    return made;
  }
  absl::StatusOr<TrainerDevice> gpu = OpenGpu(flags, exact, parts);
  if (!gpu.ok()) EndWithoutDevice(flags, common::kExitDeviceGone, std::string(gpu.status().message()));
  return gpu;
}

void LeaveLastWords(const Flags& flags, const std::string& why) {
  const absl::Status written = common::WriteLastWords(common::LastWordsPath(flags.dir, flags.trainer), why);
  if (!written.ok()) log::Warning("the agent will not know why", {{"error", std::string(written.message())}});
}

void EndWithoutDevice(const Flags& flags, int exit_code, const std::string& why) {
  log::Error("ends, because of its device", {{"why", why}});
  LeaveLastWords(flags, why);
  ::_exit(exit_code);
}

void EndWithFailedDevice(const Flags& flags, const device::Health& health) {
  const bool is_gone = health.state == device::Health::State::kDeviceLost;
  EndWithoutDevice(flags, is_gone ? common::kExitDeviceGone : common::kExitContextLost, health.words);
}

}  // namespace rekindle::train
