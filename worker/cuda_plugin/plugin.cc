// Implements the table of functions that the CUDA plugin exports, and the probe that shows that device, driver and
// kernels suit each other.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <limits>
#include <vector>

#include "kernels/cuda/device_memory.h"
#include "kernels/cuda/layers/cuda_layers.h"
#include "kernels/cuda/planes/cuda_plane_split.h"
#include "kernels/cuda/planes/plane_probe.h"
#include "kernels/cuda/plugin_api.h"
#include "kernels/cuda/scale_to_bf16.h"
#include "kernels/cuda/step/cuda_kernels.h"
#include "kernels/vector/bfloat16_element.h"
#include "worker/cuda_plugin/runtime.h"
#ifdef REKINDLE_HAVE_NCCL
#include "worker/comm/nccl/nccl_plugin.h"
#endif

namespace rekindle::cuda {
namespace {

// Returns floats that a wrong conversion to bfloat16 would convert to other values than a right one, because of
// rounding, carries or special cases.
std::vector<float> ProbeInput() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {
      0.0f,          -0.0f,     1.0f,       1.00390625f, 1.01171875f,
      3.3895314e38f, kInfinity, -kInfinity, 1e-40f,      std::numeric_limits<float>::quiet_NaN()};
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<float>(i) * 0.123456789f - 61.0f);
  return values;
}

int Probe(char* error, std::size_t error_size) {
  constexpr float kScale = 0.75f;
  const std::vector<float> in = ProbeInput();
  std::vector<std::uint16_t> out;

  int devices = 0;
  if (auto code = cudaGetDeviceCount(&devices)) return Fail("no CUDA device answers", code, error, error_size);
  const DeviceArray<float> device_in(in);
  if (auto code = device_in.code()) return Fail("copy to the device", code, error, error_size);
  const DeviceArray<std::uint16_t> device_out(in.size());
  if (auto code = device_out.code()) return Fail("cudaMalloc", code, error, error_size);
  if (auto code = ScaleToBf16(device_in.get(), device_out.get(), in.size(), kScale, nullptr)) {
    return Fail("launch of a kernel", code, error, error_size);
  }
  if (auto code = device_out.Copy(&out)) return Fail("copy from the device", code, error, error_size);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::uint16_t expected = common::ToBf16(in[i] * kScale);
    // The GPU and the CPU may produce different NaN payloads, but both results must be NaN.
    if (out[i] == expected || ((expected & 0x7fff) > 0x7f80 && (out[i] & 0x7fff) > 0x7f80)) continue;
    std::snprintf(error, error_size, "the device rounds %g * %g to bfloat16 bits 0x%04x, the CPU to 0x%04x",
                  static_cast<double>(in[i]), static_cast<double>(kScale), out[i], expected);
    return 1;
  }
  return ProbePlanes(error, error_size);
}

int ScaleToBf16Entry(const float* in, std::uint16_t* out, std::size_t n, float scale, void* stream, char* error,
                     std::size_t error_size) {
  const auto code = ScaleToBf16(in, out, n, scale, static_cast<cudaStream_t>(stream));
  return code == cudaSuccess ? 0 : Fail("scale_to_bf16", code, error, error_size);
}

}  // namespace
}  // namespace rekindle::cuda

extern "C" __attribute__((visibility("default"))) const RekindleCudaApi* rekindle_cuda_api() {
  static constexpr RekindleCudaApi kApi = {
      .version = kRekindleCudaApiVersion,
      .probe = &rekindle::cuda::Probe,
      .scale_to_bf16 = &rekindle::cuda::ScaleToBf16Entry,
      .device = &rekindle::cuda::kDevice,
      .kernels = &rekindle::cuda::kKernels,
      .layers = &rekindle::cuda::kLayers,
#ifdef REKINDLE_HAVE_NCCL
      .nccl = &rekindle::comm::kNcclApi,
#else
      .nccl = nullptr,
#endif
  };
  return &kApi;
}
