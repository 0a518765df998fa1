// Defines the part of the C interface of librekindle_cuda.so that a device of a trainer is made of: memory, queues,
// marks and copies (worker/device/contract/device.h).
//
// Each function returns 0 or the number of a CUDA error (cudaError_t), for which it writes the driver's words to
// `error`, as the functions of RekindleCudaApi do. An error of work that was queued before may come back from any
// function. No function blocks, except those that free memory, which wait for all queues of the device.
#ifndef REKINDLE_KERNELS_CUDA_DEVICE_API_H_
#define REKINDLE_KERNELS_CUDA_DEVICE_API_H_

#include <cstddef>
#include <cstdint>

struct RekindleCudaDevice {
  int (*allocate)(std::size_t bytes, void** memory, char* error, std::size_t error_size);
  int (*release)(void* memory, char* error, std::size_t error_size);
  // Pinned memory is memory of the host that the device can reach.
  int (*allocate_pinned)(std::size_t bytes, void** memory, char* error, std::size_t error_size);
  int (*release_pinned)(void* memory, char* error, std::size_t error_size);
  // Returns the bytes of the device's memory that are free, and how many there are in all.
  int (*memory)(std::size_t* free_bytes, std::size_t* all_bytes, char* error, std::size_t error_size);

  // A queue is a cudaStream_t. If `urgent` is not 0, its work goes before that of queues that are not urgent.
  int (*make_queue)(std::uint32_t urgent, void** queue, char* error, std::size_t error_size);
  int (*end_queue)(void* queue, char* error, std::size_t error_size);

  // A mark is a cudaEvent_t. `record` puts it behind all that is in the queue. It may be recorded again.
  int (*make_mark)(void** mark, char* error, std::size_t error_size);
  int (*end_mark)(void* mark, char* error, std::size_t error_size);
  int (*record)(void* mark, void* queue, char* error, std::size_t error_size);
  // Lets what is queued later wait until the device has passed the mark.
  int (*wait)(void* queue, void* mark, char* error, std::size_t error_size);
  // Sets *passed to whether the device has passed the mark.
  int (*passed)(void* mark, std::uint32_t* passed, char* error, std::size_t error_size);
};

#endif  // REKINDLE_KERNELS_CUDA_DEVICE_API_H_
