// Lets LibTorch do its work on a queue of the trainer's GPU. This header includes ATen.
#ifndef REKINDLE_WORKER_MODELS_ATEN_ON_QUEUE_H_
#define REKINDLE_WORKER_MODELS_ATEN_ON_QUEUE_H_

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <optional>

namespace rekindle::models {

// While the object lives, what the calling thread asks of LibTorch on a GPU is queued on `queue` (a cudaStream_t). A
// backward runs where its forward was queued. An object for the processor does nothing.
class OnQueue {
 public:
  OnQueue(const c10::Device& device, void* queue) {
    if (device.is_cpu()) return;
    const c10::impl::VirtualGuardImpl gpu(device.type());
    // The id of a stream that LibTorch has not made is its address (getStreamFromExternal in c10/cuda/CUDAStream.h).
    // That function is in LibTorch's CUDA part, which this program does not link.
    before_ =
        gpu.exchangeStream(c10::Stream(c10::Stream::UNSAFE, gpu.getDevice(), reinterpret_cast<c10::StreamId>(queue)));
  }
  ~OnQueue() {
    if (before_) c10::impl::VirtualGuardImpl(before_->device_type()).exchangeStream(*before_);
  }
  OnQueue(const OnQueue&) = delete;
  OnQueue& operator=(const OnQueue&) = delete;

 private:
  std::optional<c10::Stream> before_;
};

}  // namespace rekindle::models

#endif  // REKINDLE_WORKER_MODELS_ATEN_ON_QUEUE_H_
