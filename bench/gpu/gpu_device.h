// Offers what the parts of the GPU check share: device memory whose failures cannot go unnoticed, timing on the device,
// and output.
//
// Each line of output is JSON: {"check": name, "ok": bool, "detail": text}, {"name": name, "gb_per_s": number}, or
// {"skipped": name, "detail": why}.
#ifndef REKINDLE_BENCH_GPU_GPU_DEVICE_H_
#define REKINDLE_BENCH_GPU_GPU_DEVICE_H_

#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/cuda/device_memory.h"

namespace rekindle::gpu {

inline void Print(const nlohmann::json& row) {
  std::printf("%s\n", row.dump().c_str());
  std::fflush(stdout);
}
// Prints the result of a check. An empty `problem` means that the check passed.
inline void PrintCheck(const std::string& name, const std::string& problem) {
  Print({{"check", name}, {"ok", problem.empty()}, {"detail", problem}});
}

// Ends the program after a CUDA error, because nothing that follows would mean anything.
inline void Must(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  PrintCheck(what, cudaGetErrorString(code));
  std::exit(1);
}

template <typename T>
class Array {
 public:
  explicit Array(std::size_t n) : memory_(n) { Must(memory_.code(), "device memory"); }
  explicit Array(const std::vector<T>& from) : memory_(from) { Must(memory_.code(), "copy to the device"); }
  T* get() const { return memory_.get(); }
  std::vector<T> Host() const {
    std::vector<T> host;
    Must(memory_.Copy(&host), "copy from the device");
    return host;
  }

 private:
  cuda::DeviceArray<T> memory_;
};

// Calls a function of the plugin's table on CUDA's default stream. Ends the program if the function fails.
template <typename Args>
void Call(int (*entry)(const Args*, void*, char*, std::size_t), const Args& args) {
  char error[256] = "";
  if (entry(&args, nullptr, error, sizeof(error)) == 0) return;
  PrintCheck("launch", error);
  std::exit(1);
}

// Returns the seconds of one launch. This is the median of twenty launches after three that warm up.
inline double Seconds(const std::function<void()>& launch) {
  constexpr int kWarm = 3, kRounds = 20;
  cudaEvent_t begin, end;
  Must(cudaEventCreate(&begin), "event");
  Must(cudaEventCreate(&end), "event");
  std::vector<float> milliseconds;
  for (int i = 0; i < kWarm + kRounds; ++i) {
    Must(cudaEventRecord(begin), "event");
    launch();
    Must(cudaEventRecord(end), "event");
    Must(cudaEventSynchronize(end), "kernel");
    float elapsed = 0;
    Must(cudaEventElapsedTime(&elapsed, begin, end), "event");
    if (i >= kWarm) milliseconds.push_back(elapsed);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::nth_element(milliseconds.begin(), milliseconds.begin() + kRounds / 2, milliseconds.end());
  return milliseconds[kRounds / 2] * 1e-3;
}
// Prints the rate of a kernel. In `bytes`, each array that must be read or written counts once.
inline void PrintRate(const std::string& name, double bytes, const std::function<void()>& launch) {
  Print({{"name", name}, {"gb_per_s", bytes / Seconds(launch) / 1e9}});
}

inline bool Same(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (a != a && b != b);
}
inline bool Same(double a, double b) { return a == b || (a != a && b != b); }
template <typename T>
bool Same(T a, T b) {
  return a == b;
}
// Returns an empty string, or where the device's bits differ from the CPU's. All NaNs count as equal.
template <typename T>
std::string Difference(const char* what, const std::vector<T>& device, const std::vector<T>& cpu) {
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    if (Same(device[i], cpu[i])) continue;
    return std::string(what) + "[" + std::to_string(i) + "]: the device has " + std::to_string(device[i]) +
           ", the CPU " + std::to_string(cpu[i]);
  }
  return "";
}

// Returns values of all magnitudes that training sees, including denormals. They are the same on every machine.
inline std::vector<float> Values(std::size_t n, uint32_t seed, float scale = 1) {
  std::vector<float> values(n);
  uint32_t state = seed * 2654435761u + 1;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    const int exponent = static_cast<int>(state >> 27) - 24;
    value = static_cast<float>(static_cast<int32_t>(state << 5)) * 0x1p-31f * scale *
            std::bit_cast<float>((127 + exponent) << 23);
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(n, 4); ++i) values[i] = i % 2 == 0 ? 1e-40f : -0.0f;
  return values;
}

}  // namespace rekindle::gpu

#endif  // REKINDLE_BENCH_GPU_GPU_DEVICE_H_
