// Loads the CUDA plugin where a GPU is. Without a GPU nothing of CUDA is mapped into the process.
#ifndef REKINDLE_WORKER_TRAIN_CUDA_PLUGIN_H_
#define REKINDLE_WORKER_TRAIN_CUDA_PLUGIN_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/cuda/plugin_api.h"

namespace rekindle::train {

// A loaded plugin. Stays mapped until the process ends, as CUDA cannot be unloaded in order; hence no destructor that
// matters. Thread-safe.
class CudaPlugin {
 public:
  explicit CudaPlugin(const RekindleCudaApi* api) : api_(api) {}

  // Runs a kernel and checks its result against the CPU's. FailedPrecondition: no device, driver too old, wrong result.
  absl::Status Probe() const;

  const RekindleCudaApi& api() const { return *api_; }

 private:
  const RekindleCudaApi* api_;
};

// Where the build puts the plugin: beside the running program.
std::string DefaultCudaPluginPath();

// OK where the NVIDIA driver has made a device node. `root` replaces "/" in tests.
absl::Status CheckGpuPresent(const std::string& root = "/");

// dlopen and the version check, without a look at the machine.
// Unimplemented: no such file, that is a build without the CUDA wheels. FailedPrecondition: it cannot be loaded.
absl::StatusOr<CudaPlugin> OpenCudaPlugin(const std::string& path);

// What a trainer calls: the plugin must exist (else Unimplemented), then a GPU (else FailedPrecondition), then the
// plugin is opened and probed. Every error says what to do.
absl::StatusOr<CudaPlugin> LoadCudaPlugin(const std::string& path);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_CUDA_PLUGIN_H_
