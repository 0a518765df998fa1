// Loads the CUDA plugin if there is a GPU. Without a GPU nothing of CUDA is mapped into the process.
#ifndef REKINDLE_WORKER_TRAIN_PROGRAM_CUDA_PLUGIN_H_
#define REKINDLE_WORKER_TRAIN_PROGRAM_CUDA_PLUGIN_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/cuda/plugin_api.h"

namespace rekindle::train {

// `CudaPlugin` is a loaded plugin. It stays mapped until the process ends, because CUDA cannot be unloaded cleanly. So
// it needs no destructor. The class is thread-safe.
class CudaPlugin {
 public:
  explicit CudaPlugin(const RekindleCudaApi* api) : api_(api) {}

  // Runs a kernel and compares its result with that of the CPU. Returns FAILED_PRECONDITION if there is no device, the
  // driver is too old, or the result is wrong.
  absl::Status Probe() const;

  const RekindleCudaApi& api() const { return *api_; }

 private:
  const RekindleCudaApi* api_;
};

// Returns the path where the build puts the CUDA plugin, which is beside the running program.
std::string DefaultCudaPluginPath();

// Returns OK if the CUDA driver lists a GPU that this process may use, and FAILED_PRECONDITION with the driver's words
// if it does not.
absl::Status CheckGpuPresent();

// Opens the CUDA plugin and checks its version, without looking for a GPU. Returns UNIMPLEMENTED if there is no file at
// `path`, which means a build without the CUDA wheels. Returns FAILED_PRECONDITION if the plugin cannot be loaded.
absl::StatusOr<CudaPlugin> OpenCudaPlugin(const std::string& path);

// Opens and probes the CUDA plugin, as a trainer needs it. Returns UNIMPLEMENTED if there is no plugin, and
// FAILED_PRECONDITION if there is no GPU or the plugin fails. Every error says what the user can do.
absl::StatusOr<CudaPlugin> LoadCudaPlugin(const std::string& path);

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_PROGRAM_CUDA_PLUGIN_H_
