#include "worker/train/state/float_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "common/memory/huge_pages.h"

namespace rekindle::train {

FloatBuffer::FloatBuffer(int64_t size) : size_(size) {
  const size_t bytes = (static_cast<size_t>(size) * sizeof(float) + 63) / 64 * 64 + 64;
  float* memory = static_cast<float*>(common::AllocateLarge(bytes));
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, bytes);
  data_.reset(memory);
}

FloatBuffer FloatBuffer::Unused(int64_t size) {
  const size_t bytes = static_cast<size_t>(size) * sizeof(float) + 64;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  FloatBuffer buffer;
  buffer.data_ = {static_cast<float*>(memory), Free{bytes}};
  buffer.size_ = size;
  return buffer;
}

void FloatBuffer::Release(int64_t begin, int64_t end) {
  if (data_.get_deleter().mapped == 0) return;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t from = (static_cast<size_t>(begin) * sizeof(float) + page - 1) / page * page;
  size_t to = static_cast<size_t>(end) * sizeof(float) / page * page;
  if (end == size_) to = data_.get_deleter().mapped;
  if (from < to) madvise(reinterpret_cast<char*>(data_.get()) + from, to - from, MADV_DONTNEED);
}

int64_t FloatBuffer::ResidentBytes() const {
  if (data_.get_deleter().mapped == 0) return size_ * static_cast<int64_t>(sizeof(float));
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> there((data_.get_deleter().mapped + page - 1) / page);
  if (mincore(data_.get(), data_.get_deleter().mapped, there.data()) != 0) return 0;
  return std::count_if(there.begin(), there.end(), [](unsigned char c) { return (c & 1) != 0; }) *
         static_cast<int64_t>(page);
}

void FloatBuffer::Free::operator()(float* p) const {
  if (mapped > 0) {
    munmap(p, mapped);
  } else {
    std::free(p);
  }
}

}  // namespace rekindle::train
