#include "common/files/direct_read.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/files/file.h"

namespace rekindle::common {

DirectReader::~DirectReader() {
  if (direct_ >= 0) ::close(direct_);
}

int DirectReader::Descriptor() const {
  if (const int open = direct_; open >= 0) return open;
  const int fd = ::open(("/proc/self/fd/" + std::to_string(fd_)).c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  if (fd < 0) {
    can_ = false;
    return -1;
  }
  int none = -1;
  if (direct_.compare_exchange_strong(none, fd)) return fd;
  // Another thread has opened a descriptor for direct reads first, and its descriptor is used.
  ::close(fd);
  return none;
}

// Returns whether most of a range of the file is in the page cache. The answer may be outdated at any time, and then
// the read is only slower.
bool DirectReader::IsCached(int64_t offset, size_t bytes) const {
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd_, offset);
  if (mapped == MAP_FAILED) return true;
  std::vector<unsigned char> pages(bytes / kBlockBytes + 1);
  const bool known = ::mincore(mapped, bytes, pages.data()) == 0;
  ::munmap(mapped, bytes);
  const auto there = std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; });
  return !known || there > static_cast<int64_t>(bytes / kBlockBytes / 2);
}

size_t DirectReader::Read(int64_t offset, void* out, size_t bytes) const {
  bytes -= bytes % kBlockBytes;
  const bool aligned = offset % kBlockBytes == 0 && reinterpret_cast<uintptr_t>(out) % kBlockBytes == 0;
  if (bytes == 0 || !aligned || !can_ || IsCached(offset, bytes)) return 0;
  const int fd = Descriptor();
  if (fd < 0) return 0;
  const ssize_t n = ::pread(fd, out, bytes, offset);
  if (n < 0) can_ = false;
  return n < 0 ? 0 : static_cast<size_t>(n) - static_cast<size_t>(n) % kBlockBytes;
}

}  // namespace rekindle::common
