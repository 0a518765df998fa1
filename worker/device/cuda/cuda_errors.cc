#include "worker/device/cuda/cuda_errors.h"

namespace rekindle::device {
namespace {

// The numbers of cudaError_t are a part of CUDA's stable interface.
constexpr int kMemoryAllocation = 2;
constexpr int kInitializationError = 3;
constexpr int kInsufficientDriver = 35;
constexpr int kDevicesUnavailable = 46;
constexpr int kNoDevice = 100;
constexpr int kInvalidDevice = 101;
constexpr int kUnknown = 999;

}  // namespace

bool IsOutOfDeviceMemory(int code) { return code == kMemoryAllocation; }

Health::State StateAfter(int code) {
  switch (code) {
    case 0:
      return Health::State::kFine;
    // With these errors no process gets a context on the device. A GPU that is off the bus gives kUnknown.
    case kInitializationError:
    case kInsufficientDriver:
    case kDevicesUnavailable:
    case kNoDevice:
    case kInvalidDevice:
    case kUnknown:
      return Health::State::kDeviceLost;
    default:
      return Health::State::kContextLost;
  }
}

}  // namespace rekindle::device
