// Manages the device memory of one array, and writes the error messages of the plugin's functions. This is internal to
// the plugin.
#ifndef REKINDLE_KERNELS_CUDA_DEVICE_MEMORY_H_
#define REKINDLE_KERNELS_CUDA_DEVICE_MEMORY_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>
#include <memory>
#include <vector>

namespace rekindle::cuda {

inline int Fail(const char* what, cudaError_t code, char* error, std::size_t error_size) {
  std::snprintf(error, error_size, "%s: %s (%s)", what, cudaGetErrorString(code), cudaGetErrorName(code));
  return 1;
}

template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t n) : n_(n) {
    void* raw = nullptr;
    code_ = cudaMalloc(&raw, n * sizeof(T));
    if (code_ == cudaSuccess) code_ = cudaMemset(raw, 0, n * sizeof(T));
    memory_.reset(static_cast<T*>(raw));
  }
  explicit DeviceArray(const std::vector<T>& from) : DeviceArray(from.size()) {
    if (code_ == cudaSuccess) code_ = cudaMemcpy(get(), from.data(), n_ * sizeof(T), cudaMemcpyHostToDevice);
  }

  // Returns the first CUDA error so far. The caller must check it before it uses get().
  cudaError_t code() const { return code_; }
  T* get() const { return memory_.get(); }
  cudaError_t Copy(std::vector<T>* to) const {
    to->resize(n_);
    return cudaMemcpy(to->data(), get(), n_ * sizeof(T), cudaMemcpyDeviceToHost);
  }

 private:
  struct Free {
    void operator()(T* memory) const { cudaFree(memory); }
  };
  std::size_t n_;
  cudaError_t code_ = cudaSuccess;
  std::unique_ptr<T, Free> memory_;
};

}  // namespace rekindle::cuda

#endif  // REKINDLE_KERNELS_CUDA_DEVICE_MEMORY_H_
