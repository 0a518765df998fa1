#include "worker/cuda_plugin/runtime.h"

#include <cuda_runtime_api.h>

#include <cstdio>

namespace rekindle::cuda {
namespace {

// Returns the error's number and writes its words.
int Tell(const char* what, cudaError_t code, char* error, std::size_t error_size) {
  if (code == cudaSuccess) return 0;
  std::snprintf(error, error_size, "%s: %s (%s)", what, cudaGetErrorString(code), cudaGetErrorName(code));
  // The runtime keeps an error for the next caller who asks for the last one. It was told here.
  (void)cudaGetLastError();
  return static_cast<int>(code);
}

cudaStream_t StreamOf(void* queue) { return static_cast<cudaStream_t>(queue); }
cudaEvent_t EventOf(void* mark) { return static_cast<cudaEvent_t>(mark); }

int Allocate(std::size_t bytes, void** memory, char* error, std::size_t error_size) {
  return Tell("allocate memory", cudaMalloc(memory, bytes), error, error_size);
}

int Release(void* memory, char* error, std::size_t error_size) {
  return Tell("free memory", cudaFree(memory), error, error_size);
}

int AllocatePinned(std::size_t bytes, void** memory, char* error, std::size_t error_size) {
  return Tell("allocate pinned memory", cudaHostAlloc(memory, bytes, cudaHostAllocDefault), error, error_size);
}

int ReleasePinned(void* memory, char* error, std::size_t error_size) {
  return Tell("free pinned memory", cudaFreeHost(memory), error, error_size);
}

int MemoryOf(std::size_t* free_bytes, std::size_t* all_bytes, char* error, std::size_t error_size) {
  return Tell("ask for the free memory", cudaMemGetInfo(free_bytes, all_bytes), error, error_size);
}

int MakeQueue(std::uint32_t urgent, void** queue, char* error, std::size_t error_size) {
  int least = 0, greatest = 0;
  if (const cudaError_t code = cudaDeviceGetStreamPriorityRange(&least, &greatest)) {
    return Tell("ask for the priorities of queues", code, error, error_size);
  }
  cudaStream_t stream = nullptr;
  // A queue that is not non-blocking would wait for the default stream, which LibTorch uses.
  const cudaError_t code = cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, urgent != 0 ? greatest : least);
  *queue = stream;
  return Tell("make a queue", code, error, error_size);
}

int EndQueue(void* queue, char* error, std::size_t error_size) {
  return Tell("end a queue", cudaStreamDestroy(StreamOf(queue)), error, error_size);
}

int MakeMark(void** mark, char* error, std::size_t error_size) {
  cudaEvent_t event = nullptr;
  const cudaError_t code = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  *mark = event;
  return Tell("make a mark", code, error, error_size);
}

int EndMark(void* mark, char* error, std::size_t error_size) {
  return Tell("end a mark", cudaEventDestroy(EventOf(mark)), error, error_size);
}

int Record(void* mark, void* queue, char* error, std::size_t error_size) {
  return Tell("record a mark", cudaEventRecord(EventOf(mark), StreamOf(queue)), error, error_size);
}

int Wait(void* queue, void* mark, char* error, std::size_t error_size) {
  return Tell("wait for a mark", cudaStreamWaitEvent(StreamOf(queue), EventOf(mark), 0), error, error_size);
}

int Passed(void* mark, std::uint32_t* passed, char* error, std::size_t error_size) {
  const cudaError_t code = cudaEventQuery(EventOf(mark));
  *passed = code == cudaSuccess ? 1 : 0;
  if (code != cudaErrorNotReady) return Tell("ask for a mark", code, error, error_size);
  (void)cudaGetLastError();
  return 0;
}

}  // namespace

constexpr RekindleCudaDevice kDevice = {
    .allocate = &Allocate,
    .release = &Release,
    .allocate_pinned = &AllocatePinned,
    .release_pinned = &ReleasePinned,
    .memory = &MemoryOf,
    .make_queue = &MakeQueue,
    .end_queue = &EndQueue,
    .make_mark = &MakeMark,
    .end_mark = &EndMark,
    .record = &Record,
    .wait = &Wait,
    .passed = &Passed,
};

}  // namespace rekindle::cuda
