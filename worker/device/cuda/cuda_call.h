// Calls functions of the plugin's table, and remembers the first error.
#ifndef REKINDLE_WORKER_DEVICE_CUDA_CUDA_CALL_H_
#define REKINDLE_WORKER_DEVICE_CUDA_CUDA_CALL_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "common/sync/mutex.h"
#include "worker/device/contract/device.h"

namespace rekindle::device {

// The driver's words have at most so many bytes, with the zero behind them.
inline constexpr size_t kCudaErrorBytes = 512;

// Says what a call of the plugin's table has returned.
struct CudaOutcome {
  int code = 0;
  std::string words;
};

// Calls a function of the table with a buffer for the driver's words.
template <typename Function, typename... Arguments>
CudaOutcome CallCuda(Function function, Arguments... arguments) {
  char words[kCudaErrorBytes] = "";
  const int code = function(arguments..., words, sizeof words);
  return {code, code == 0 ? "" : words};
}

// Remembers the first error of the device. The class is thread-safe.
class CudaError {
 public:
  // Notes the error of a call, if it is one that stays, and returns it as a status.
  absl::Status Note(const CudaOutcome& outcome);
  absl::Status Break(Health::State state, const std::string& words);
  absl::Status status();
  Health health();

 private:
  common::Mutex mutex_;
  Health health_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rekindle::device

#endif  // REKINDLE_WORKER_DEVICE_CUDA_CUDA_CALL_H_
