#include "worker/gpus/nvml.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/gpus/driver_library.h"

namespace rekindle::gpus {
namespace {

// The functions and values below are a part of NVML's stable C interface (NVML API Reference, "Device Queries" and
// "Multi Instance GPU Management"). They are declared here because the build does not need NVIDIA's header.
constexpr char kLibrary[] = "libnvidia-ml.so.1";
constexpr int kSuccess = 0;
constexpr int kDriverNotLoaded = 9;
constexpr unsigned kMigEnabled = 1;
constexpr unsigned kUuidBytes = 96, kNameBytes = 96;
// `kMostGpus` bounds what is taken over from a driver that answers nonsense.
constexpr unsigned kMostGpus = 64;

struct MemoryInfo {
  unsigned long long total, free, used;
};
using Handle = void*;

class Nvml {
 public:
  static absl::StatusOr<Nvml> Open() {
    absl::StatusOr<DriverLibrary> library = DriverLibrary::Open(kLibrary);
    if (!library.ok()) return library.status();
    Nvml nvml;
    library->Find("nvmlInit_v2", &nvml.init_);
    library->Find("nvmlErrorString", &nvml.error_string_);
    library->Find("nvmlDeviceGetCount_v2", &nvml.count_);
    library->Find("nvmlDeviceGetHandleByIndex_v2", &nvml.handle_);
    library->Find("nvmlDeviceGetUUID", &nvml.uuid_);
    library->Find("nvmlDeviceGetMemoryInfo", &nvml.memory_);
    library->Find("nvmlDeviceGetCudaComputeCapability", &nvml.capability_);
    library->FindIfThere("nvmlDeviceGetName", &nvml.name_);
    // A driver that lacks the functions of MIG has no partitioned GPUs.
    library->FindIfThere("nvmlDeviceGetMigMode", &nvml.mig_mode_);
    library->FindIfThere("nvmlDeviceGetMaxMigDeviceCount", &nvml.most_parts_);
    library->FindIfThere("nvmlDeviceGetMigDeviceHandleByIndex", &nvml.part_);
    if (absl::Status whole = library->Check(); !whole.ok()) return whole;
    const int code = nvml.init_();
    // The libraries of the driver may be installed on a machine that has no GPU.
    if (code == kDriverNotLoaded) return absl::NotFoundError(nvml.Words(code));
    if (code != kSuccess) {
      return absl::FailedPreconditionError(absl::StrCat("the NVIDIA driver does not answer: ", nvml.Words(code)));
    }
    return nvml;
  }

  absl::StatusOr<std::vector<Gpu>> Gpus() const {
    unsigned count = 0;
    if (const int code = count_(&count); code != kSuccess) {
      return absl::FailedPreconditionError(absl::StrCat("the NVIDIA driver does not list its GPUs: ", Words(code)));
    }
    std::vector<Gpu> gpus;
    for (unsigned index = 0; index < std::min(count, kMostGpus); ++index) {
      Handle handle = nullptr;
      const int code = handle_(index, &handle);
      gpus.push_back(code == kSuccess ? Whole(handle) : Gpu{.problem = Words(code)});
    }
    return gpus;
  }

 private:
  std::string Words(int code) const {
    const char* words = error_string_(code);
    return absl::StrCat(words == nullptr ? "unknown error" : words, " (NVML ", code, ")");
  }

  Gpu Whole(Handle handle) const {
    Gpu gpu;
    int major = 0, minor = 0;
    if (const int code = capability_(handle, &major, &minor); code != kSuccess) gpu.problem = Words(code);
    gpu.compute_capability = major * 10 + minor;
    Describe(handle, &gpu);
    if (!IsPartitioned(handle)) return gpu;
    gpu.parts = Parts(handle, gpu.compute_capability);
    if (gpu.parts.empty()) gpu.problem = "its MIG mode is on, but it has no parts: make some, or switch MIG off";
    return gpu;
  }

  bool IsPartitioned(Handle handle) const {
    unsigned now = 0, pending = 0;
    if (mig_mode_ == nullptr || most_parts_ == nullptr || part_ == nullptr) return false;
    return mig_mode_(handle, &now, &pending) == kSuccess && now == kMigEnabled;
  }

  std::vector<Gpu> Parts(Handle whole, int compute_capability) const {
    std::vector<Gpu> parts;
    unsigned most = 0;
    if (most_parts_(whole, &most) != kSuccess) return parts;
    for (unsigned index = 0; index < std::min(most, kMostGpus); ++index) {
      Handle handle = nullptr;
      if (part_(whole, index, &handle) != kSuccess) continue;
      Gpu part = {.compute_capability = compute_capability};
      Describe(handle, &part);
      parts.push_back(std::move(part));
    }
    return parts;
  }

  void Describe(Handle handle, Gpu* gpu) const {
    char uuid[kUuidBytes] = {}, name[kNameBytes] = {};
    MemoryInfo memory = {};
    const int named = uuid_(handle, uuid, kUuidBytes - 1);
    if (named == kSuccess) gpu->uuid = uuid;
    if (name_ != nullptr && name_(handle, name, kNameBytes - 1) == kSuccess) gpu->name = name;
    const int measured = memory_(handle, &memory);
    if (measured == kSuccess) gpu->memory_bytes = static_cast<double>(memory.total);
    for (const int code : {named, measured}) {
      if (code != kSuccess && gpu->problem.empty()) gpu->problem = Words(code);
    }
  }

  int (*init_)() = nullptr;
  const char* (*error_string_)(int) = nullptr;
  int (*count_)(unsigned*) = nullptr;
  int (*handle_)(unsigned, Handle*) = nullptr;
  int (*uuid_)(Handle, char*, unsigned) = nullptr;
  int (*name_)(Handle, char*, unsigned) = nullptr;
  int (*memory_)(Handle, MemoryInfo*) = nullptr;
  int (*capability_)(Handle, int*, int*) = nullptr;
  int (*mig_mode_)(Handle, unsigned*, unsigned*) = nullptr;
  int (*most_parts_)(Handle, unsigned*) = nullptr;
  int (*part_)(Handle, unsigned, Handle*) = nullptr;
};

}  // namespace

absl::StatusOr<std::vector<Gpu>> AskNvml() {
  const absl::StatusOr<Nvml> nvml = Nvml::Open();
  if (!nvml.ok()) return nvml.status();
  return nvml->Gpus();
}

}  // namespace rekindle::gpus
