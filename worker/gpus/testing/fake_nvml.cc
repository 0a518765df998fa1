// Stands in for NVML in tests. The tests put the folder of this library first on LD_LIBRARY_PATH and list the GPUs in
// the environment variable REKINDLE_FAKE_NVML: "UUID,CAPABILITY,BYTES[,NAME]" for each GPU, separated by ';'. A GPU may
// be followed by its parts, each of which begins with '+'. The text "lost" stands for a GPU that is off the bus, "hang"
// for a driver that never answers, "mismatch" for a driver that does not fit its library, and "unloaded" for one that
// is not loaded. A value that begins with
// '@' names a file with the list, so that a test can change it.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace {

constexpr int kSuccess = 0, kInvalidArgument = 2, kNotFound = 6, kDriverNotLoaded = 9, kGpuIsLost = 15,
              kLibraryMismatch = 18;

struct FakeGpu {
  std::string uuid;
  int capability = 0;
  unsigned long long bytes = 0;
  std::string name;
  bool is_lost = false;
  std::vector<FakeGpu> parts;
};

std::string ReadList() {
  const char* value = std::getenv("REKINDLE_FAKE_NVML");
  if (value == nullptr || *value != '@') return value == nullptr ? "" : value;
  std::ifstream file(value + 1);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<FakeGpu> ReadGpus() {
  std::vector<FakeGpu> gpus;
  const std::string list = ReadList();
  for (absl::string_view text : absl::StrSplit(list, ';', absl::SkipEmpty())) {
    FakeGpu gpu{.is_lost = text == "lost"};
    const bool is_part = text.front() == '+';
    if (is_part) text.remove_prefix(1);
    const std::vector<std::string> fields = absl::StrSplit(text, ',');
    gpu.uuid = fields[0];
    if (fields.size() > 2 && !(absl::SimpleAtoi(fields[1], &gpu.capability) && absl::SimpleAtoi(fields[2], &gpu.bytes)))
      std::abort();
    if (fields.size() > 3) gpu.name = fields[3];
    (is_part ? gpus.back().parts : gpus).push_back(gpu);
  }
  return gpus;
}

std::vector<FakeGpu>& Gpus() {
  static std::vector<FakeGpu> gpus = ReadGpus();
  return gpus;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const std::string list = ReadList();
  while (list == "hang") pause();
  return list == "mismatch" ? kLibraryMismatch : list == "unloaded" ? kDriverNotLoaded : kSuccess;
}
const char* nvmlErrorString(int code) {
  return code == kGpuIsLost         ? "GPU is lost"
         : code == kLibraryMismatch ? "Driver/library version mismatch"
                                    : "Invalid Argument";
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(Gpus().size());
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  if (index >= Gpus().size()) return kInvalidArgument;
  if (Gpus()[index].is_lost) return kGpuIsLost;
  *handle = &Gpus()[index];
  return kSuccess;
}
int nvmlDeviceGetUUID(void* handle, char* uuid, unsigned length) {
  std::strncpy(uuid, static_cast<FakeGpu*>(handle)->uuid.c_str(), length);
  return kSuccess;
}
int nvmlDeviceGetName(void* handle, char* name, unsigned length) {
  std::strncpy(name, static_cast<FakeGpu*>(handle)->name.c_str(), length);
  return kSuccess;
}
int nvmlDeviceGetMemoryInfo(void* handle, unsigned long long* total_free_used) {
  total_free_used[0] = static_cast<FakeGpu*>(handle)->bytes;
  return kSuccess;
}
int nvmlDeviceGetCudaComputeCapability(void* handle, int* major, int* minor) {
  *major = static_cast<FakeGpu*>(handle)->capability / 10;
  *minor = static_cast<FakeGpu*>(handle)->capability % 10;
  return kSuccess;
}
int nvmlDeviceGetMigMode(void* handle, unsigned* now, unsigned* pending) {
  *now = *pending = static_cast<FakeGpu*>(handle)->parts.empty() ? 0 : 1;
  return kSuccess;
}
int nvmlDeviceGetMaxMigDeviceCount(void*, unsigned* count) {
  *count = 7;
  return kSuccess;
}
int nvmlDeviceGetMigDeviceHandleByIndex(void* handle, unsigned index, void** part) {
  std::vector<FakeGpu>& parts = static_cast<FakeGpu*>(handle)->parts;
  if (index >= parts.size()) return kNotFound;
  *part = &parts[index];
  return kSuccess;
}
}
