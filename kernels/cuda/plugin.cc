// The exported table of the plugin, and the probe that shows that device, driver and kernels suit each other.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/cuda/plugin_api.h"
#include "kernels/cuda/scale_to_bf16.h"

namespace rekindle::cuda {
namespace {

int Fail(const char* what, cudaError_t code, char* error, std::size_t error_size) {
  std::snprintf(error, error_size, "%s: %s (%s)", what, cudaGetErrorString(code), cudaGetErrorName(code));
  return 1;
}

struct DeviceFree {
  void operator()(void* memory) const { cudaFree(memory); }
};
using DeviceMemory = std::unique_ptr<void, DeviceFree>;

cudaError_t Allocate(std::size_t bytes, DeviceMemory* memory) {
  void* raw = nullptr;
  const cudaError_t code = cudaMalloc(&raw, bytes);
  memory->reset(raw);
  return code;
}

// Values where rounding, carries and special cases differ between a right and a wrong conversion.
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
  std::vector<std::uint16_t> out(in.size());
  const std::size_t in_bytes = in.size() * sizeof(in[0]), out_bytes = out.size() * sizeof(out[0]);

  int devices = 0;
  if (auto code = cudaGetDeviceCount(&devices)) return Fail("no CUDA device answers", code, error, error_size);
  DeviceMemory device_in, device_out;
  if (auto code = Allocate(in_bytes, &device_in)) return Fail("cudaMalloc", code, error, error_size);
  if (auto code = Allocate(out_bytes, &device_out)) return Fail("cudaMalloc", code, error, error_size);
  auto* typed_in = static_cast<float*>(device_in.get());
  auto* typed_out = static_cast<std::uint16_t*>(device_out.get());
  if (auto code = cudaMemcpy(typed_in, in.data(), in_bytes, cudaMemcpyHostToDevice)) {
    return Fail("copy to the device", code, error, error_size);
  }
  if (auto code = ScaleToBf16(typed_in, typed_out, in.size(), kScale, nullptr)) {
    return Fail("launch of a kernel", code, error, error_size);
  }
  if (auto code = cudaMemcpy(out.data(), typed_out, out_bytes, cudaMemcpyDeviceToHost)) {
    return Fail("copy from the device", code, error, error_size);
  }
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::uint16_t expected = Bf16Bits(in[i] * kScale);
    // NaN payloads may differ between the two multiplications; that it is a NaN may not.
    if (out[i] == expected || ((expected & 0x7fff) > 0x7f80 && (out[i] & 0x7fff) > 0x7f80)) continue;
    std::snprintf(error, error_size, "the device rounds %g * %g to bfloat16 bits 0x%04x, the CPU to 0x%04x",
                  static_cast<double>(in[i]), static_cast<double>(kScale), out[i], expected);
    return 1;
  }
  return 0;
}

int ScaleToBf16Entry(const float* in, std::uint16_t* out, std::size_t n, float scale, void* stream, char* error,
                     std::size_t error_size) {
  const auto code = ScaleToBf16(in, out, n, scale, static_cast<cudaStream_t>(stream));
  return code == cudaSuccess ? 0 : Fail("scale_to_bf16", code, error, error_size);
}

}  // namespace
}  // namespace rekindle::cuda

extern "C" __attribute__((visibility("default"))) const RekindleCudaApi* rekindle_cuda_api() {
  static constexpr RekindleCudaApi kApi = {kRekindleCudaApiVersion, &rekindle::cuda::Probe,
                                           &rekindle::cuda::ScaleToBf16Entry};
  return &kApi;
}
