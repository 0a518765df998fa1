// Stands in for the CUDA driver in tests, like fake_nvml.cc. REKINDLE_FAKE_CUDA is the number of GPUs, or "broken" for
// a driver that does not start.
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int kSuccess = 0, kNoDevice = 100, kUnknown = 999;

std::string Setting() {
  const char* setting = std::getenv("REKINDLE_FAKE_CUDA");
  return setting == nullptr ? "0" : setting;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return Setting() == "broken" ? kUnknown : Setting() == "0" ? kNoDevice : kSuccess; }
int cuGetErrorString(int code, const char** words) {
  *words = code == kNoDevice ? "no CUDA-capable device is detected" : "unknown error";
  return kSuccess;
}
int cuDeviceGetCount(int* count) {
  *count = std::atoi(Setting().c_str());
  return kSuccess;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return kSuccess;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : 0;
  return kSuccess;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = size_t{80} << 30;
  return kSuccess;
}
int cuDeviceGetUuid(char* uuid, int device) {
  std::memset(uuid, 0x10 + device, 16);
  return kSuccess;
}
}
