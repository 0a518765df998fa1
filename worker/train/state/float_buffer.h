// Holds large arrays of floats, whose memory can be given back in parts.
#ifndef REKINDLE_WORKER_TRAIN_STATE_FLOAT_BUFFER_H_
#define REKINDLE_WORKER_TRAIN_STATE_FLOAT_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace rekindle::train {

// Owns zeroed floats with 64-byte alignment. It can be moved but not copied.
class FloatBuffer {
 public:
  FloatBuffer() = default;
  explicit FloatBuffer(int64_t size);
  // Returns a buffer of zeros that takes no memory until it is written.
  static FloatBuffer Unused(int64_t size);
  // Gives back the memory of the elements [begin, end) of a buffer from Unused(). Their values are lost, except on
  // pages that also hold other elements.
  void Release(int64_t begin, int64_t end);
  // Returns the bytes of memory that the buffer takes now.
  int64_t ResidentBytes() const;
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  int64_t size() const { return size_; }
  std::span<float> span() { return {data_.get(), static_cast<size_t>(size_)}; }
  std::span<const float> span() const { return {data_.get(), static_cast<size_t>(size_)}; }

 private:
  struct Free {
    // `mapped` is the number of bytes to unmap. It is 0 for memory from the heap.
    size_t mapped;
    void operator()(float* p) const;
  };
  std::unique_ptr<float[], Free> data_{nullptr, Free{0}};
  int64_t size_ = 0;
};

}  // namespace rekindle::train

#endif  // REKINDLE_WORKER_TRAIN_STATE_FLOAT_BUFFER_H_
