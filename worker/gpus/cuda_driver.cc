#include "worker/gpus/cuda_driver.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "worker/gpus/driver_library.h"

namespace rekindle::gpus {
namespace {

// The functions and values below are a part of the stable C interface of CUDA (CUDA Driver API, "Device Management").
// They are declared here because the agent is built without CUDA's headers.
constexpr char kLibrary[] = "libcuda.so.1";
constexpr int kSuccess = 0;
constexpr int kNoDevice = 100;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;
constexpr int kMostGpus = 64;
constexpr int kNameBytes = 256;

struct Uuid {
  char bytes[16];
};

std::string ToText(const Uuid& uuid) {
  const std::string hex = absl::BytesToHexString(absl::string_view(uuid.bytes, sizeof uuid.bytes));
  return absl::StrCat("GPU-", hex.substr(0, 8), "-", hex.substr(8, 4), "-", hex.substr(12, 4), "-", hex.substr(16, 4),
                      "-", hex.substr(20));
}

class CudaDriver {
 public:
  static absl::StatusOr<CudaDriver> Open() {
    absl::StatusOr<DriverLibrary> library = DriverLibrary::Open(kLibrary);
    if (!library.ok()) return library.status();
    CudaDriver driver;
    library->Find("cuInit", &driver.init_);
    library->Find("cuGetErrorString", &driver.error_string_);
    library->Find("cuDeviceGetCount", &driver.count_);
    library->Find("cuDeviceGet", &driver.device_);
    library->Find("cuDeviceGetAttribute", &driver.attribute_);
    library->Find("cuDeviceTotalMem_v2", &driver.memory_);
    library->Find("cuDeviceGetUuid", &driver.uuid_);
    library->FindIfThere("cuDeviceGetName", &driver.name_);
    if (absl::Status whole = library->Check(); !whole.ok()) return whole;
    const int code = driver.init_(0);
    if (code == kNoDevice) return absl::NotFoundError(driver.Words(code));
    if (code != kSuccess) {
      return absl::FailedPreconditionError(absl::StrCat("the CUDA driver does not start: ", driver.Words(code)));
    }
    return driver;
  }

  absl::StatusOr<std::vector<Gpu>> Gpus() const {
    int count = 0;
    if (const int code = count_(&count); code != kSuccess) {
      return absl::FailedPreconditionError(absl::StrCat("the CUDA driver does not list its GPUs: ", Words(code)));
    }
    std::vector<Gpu> gpus;
    for (int index = 0; index < count && index < kMostGpus; ++index) gpus.push_back(Describe(index));
    return gpus;
  }

 private:
  std::string Words(int code) const {
    const char* words = nullptr;
    return error_string_(code, &words) == kSuccess && words != nullptr ? absl::StrCat(words, " (CUDA ", code, ")")
                                                                       : absl::StrCat("CUDA error ", code);
  }

  Gpu Describe(int index) const {
    int device = 0, major = 0, minor = 0;
    size_t bytes = 0;
    Uuid uuid = {};
    int code = device_(&device, index);
    const auto ask = [&](auto&& call) { code = code == kSuccess ? call() : code; };
    ask([&] { return attribute_(&major, kCapabilityMajor, device); });
    ask([&] { return attribute_(&minor, kCapabilityMinor, device); });
    ask([&] { return memory_(&bytes, device); });
    ask([&] { return uuid_(&uuid, device); });
    if (code != kSuccess) return {.problem = Words(code)};
    char name[kNameBytes] = {};
    if (name_ != nullptr && name_(name, kNameBytes - 1, device) != kSuccess) name[0] = '\0';
    return {.uuid = ToText(uuid),
            .name = name,
            .compute_capability = major * 10 + minor,
            .memory_bytes = static_cast<double>(bytes)};
  }

  int (*init_)(unsigned) = nullptr;
  int (*error_string_)(int, const char**) = nullptr;
  int (*count_)(int*) = nullptr;
  int (*device_)(int*, int) = nullptr;
  int (*attribute_)(int*, int, int) = nullptr;
  int (*memory_)(size_t*, int) = nullptr;
  int (*name_)(char*, int, int) = nullptr;
  int (*uuid_)(Uuid*, int) = nullptr;
};

}  // namespace

absl::StatusOr<std::vector<Gpu>> AskCudaDriver() {
  const absl::StatusOr<CudaDriver> driver = CudaDriver::Open();
  if (!driver.ok()) return driver.status();
  return driver->Gpus();
}

}  // namespace rekindle::gpus
