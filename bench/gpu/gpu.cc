// Checks the plugin on this machine's GPU. It compares each kernel's result with the CPU's, measures its speed, and
// tries NCCL.
//
//   rekindle-bench-gpu [--plugin FILE]
//
// It prints lines of JSON in the format of gpu_device.h. The first line is {"gpu": name, ...}, or {"no_gpu": why} with
// exit code 3.
#include <CLI/CLI.hpp>
#include <string>

#include "bench/gpu/gpu_device.h"
#include "bench/gpu/gpu_parts.h"
#include "worker/train/program/cuda_plugin.h"

namespace rekindle::gpu {
namespace {

constexpr int kNoGpu = 3;

// Measures a copy on the device, which is the limit for every kernel. The rate counts bytes read and written.
void MeasureCopy() {
  constexpr std::size_t kBytes = std::size_t{512} << 20;
  const Array<char> from(kBytes), to(kBytes);
  PrintRate("copy", 2.0 * kBytes,
            [&] { Must(cudaMemcpyAsync(to.get(), from.get(), kBytes, cudaMemcpyDeviceToDevice), "copy"); });
}

int Run(const std::string& path) {
  const auto plugin = train::OpenCudaPlugin(path);
  if (!plugin.ok()) {
    Print({{"no_gpu", std::string(plugin.status().message())}});
    return 1;
  }
  int devices = 0;
  const cudaError_t code = cudaGetDeviceCount(&devices);
  if (code != cudaSuccess || devices == 0) {
    Print({{"no_gpu", code == cudaSuccess ? "no GPU found" : cudaGetErrorString(code)}});
    return kNoGpu;
  }
  cudaDeviceProp device = {};
  Must(cudaGetDeviceProperties(&device, 0), "device");
  int driver = 0;
  Must(cudaDriverGetVersion(&driver), "driver");
  Print({{"gpu", device.name},
         {"gpus", devices},
         {"capability", std::to_string(device.major) + "." + std::to_string(device.minor)},
         {"memory_gb", static_cast<double>(device.totalGlobalMem) / 1e9},
         {"driver", driver}});
  const absl::Status probed = plugin->Probe();
  PrintCheck("probe", probed.ok() ? "" : std::string(probed.message()));
  MeasureCopy();
  CheckStepKernels(*plugin->api().kernels);
  CheckModelKernels(*plugin->api().layers);
  CheckNccl(plugin->api().nccl, devices);
  return 0;
}

}  // namespace
}  // namespace rekindle::gpu

int main(int argc, char** argv) {
  CLI::App app("Checks and measures the CUDA plugin on this machine's GPU.");
  std::string plugin = rekindle::train::DefaultCudaPluginPath();
  app.add_option("--plugin", plugin, "The plugin; beside this program by default");
  CLI11_PARSE(app, argc, argv);
  return rekindle::gpu::Run(plugin);
}
