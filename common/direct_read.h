// Reads past the page cache, of what is not in it: pages that are new to the machine cost more than the disk, and who
// reads a checkpoint reads it once. What is in the page cache is left to an ordinary read, which is faster.
#ifndef REKINDLE_COMMON_DIRECT_READ_H_
#define REKINDLE_COMMON_DIRECT_READ_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rekindle::common {

// Thread-safe.
class DirectReader {
 public:
  // `fd` is an open file's; it stays the caller's and outlives this.
  explicit DirectReader(int fd) : fd_(fd) {}
  DirectReader(const DirectReader&) = delete;
  DirectReader& operator=(const DirectReader&) = delete;
  ~DirectReader();

  // Bytes read from `offset`: some first ones of `bytes`, in whole blocks of kBlockBytes. 0: read it the ordinary way,
  // which also tells what is wrong, if anything is.
  size_t Read(int64_t offset, void* out, size_t bytes) const;

 private:
  bool IsCached(int64_t offset, size_t bytes) const;
  int Descriptor() const;

  const int fd_;
  mutable std::atomic<int> direct_{-1};  // Opened at the first use.
  mutable std::atomic<bool> can_{true};  // Not every file system can.
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_DIRECT_READ_H_
