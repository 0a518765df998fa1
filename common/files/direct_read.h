// Reads those parts of a file that are not in the page cache, without putting them there. Filling new pages of the
// cache costs more than the disk does, and a checkpoint is read only once. What is in the page cache is left to an
// ordinary read, which is faster.
#ifndef REKINDLE_COMMON_FILES_DIRECT_READ_H_
#define REKINDLE_COMMON_FILES_DIRECT_READ_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rekindle::common {

// Reads one open file. It is thread-safe.
class DirectReader {
 public:
  // `fd` is the descriptor of an open file. The caller keeps owning it, and it must outlive this object.
  explicit DirectReader(int fd) : fd_(fd) {}
  DirectReader(const DirectReader&) = delete;
  DirectReader& operator=(const DirectReader&) = delete;
  ~DirectReader();

  // Reads whole blocks of kBlockBytes from `offset` on, and returns how many of the first `bytes` it has read. If it
  // returns 0, the caller must read in the ordinary way, which also reports what is wrong, if anything is.
  size_t Read(int64_t offset, void* out, size_t bytes) const;

 private:
  bool IsCached(int64_t offset, size_t bytes) const;
  int Descriptor() const;

  const int fd_;
  // `direct_` is the descriptor for direct reads, which is opened when it is first used.
  mutable std::atomic<int> direct_{-1};
  // `can_` is false if the file system cannot read directly.
  mutable std::atomic<bool> can_{true};
};

}  // namespace rekindle::common

#endif  // REKINDLE_COMMON_FILES_DIRECT_READ_H_
