// Copies the job's files once into one memory-mapped file that all processes of a node share.
//
// In the cache folder, `tokens-<fingerprint>` holds a header and the bytes of the files. `index-<key>` maps the inputs'
// paths, sizes and times to a fingerprint, so that a second process reads none of the inputs. Both files are written
// whole and renamed into place, so any number of processes may create them at once. A file with any damaged byte is
// rebuilt.
#ifndef REKINDLE_WORKER_DATA_KINDS_BYTE_CACHE_H_
#define REKINDLE_WORKER_DATA_KINDS_BYTE_CACHE_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/data/files/input_files.h"

namespace rekindle::data {

// Owns the mapping of a cache file. It is immutable after Open, so threads may share it. It can be moved.
class ByteCache {
 public:
  // Opens a cache of the first `max_bytes` bytes (with 0 all) of `files`, one after the other. The files must be in
  // `roots`. `folder` is made for this user alone if it is not there. Every byte is read once, to check the hash
  // (several GB/s).
  //
  // Returns INVALID_ARGUMENT if there are no bytes at all. Returns NOT_FOUND, PERMISSION_DENIED or FAILED_PRECONDITION
  // if an input cannot be read or the folder cannot be written. Returns RESOURCE_EXHAUSTED if no space is left, and
  // names the folder.
  static absl::StatusOr<ByteCache> Open(const std::vector<InputFile>& files, int64_t max_bytes,
                                        const std::string& folder, const DataRoots& roots = {});

  ByteCache(ByteCache&& other) noexcept { Swap(other); }
  ByteCache& operator=(ByteCache&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~ByteCache();

  // Returns the cached bytes, which are valid as long as this ByteCache, even when the cache file is replaced.
  std::span<const uint8_t> bytes() const { return bytes_; }
  // Returns the XXH3-128 of the cached bytes as 32 hex digits. The same content has the same fingerprint on any
  // machine.
  const std::string& fingerprint() const { return fingerprint_; }
  // Returns whether a valid cache was found, so that no input had to be read.
  bool found() const { return found_; }

 private:
  ByteCache() = default;
  void Swap(ByteCache& other) {
    std::swap(mapping_, other.mapping_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
    std::swap(bytes_, other.bytes_);
    fingerprint_.swap(other.fingerprint_);
    std::swap(found_, other.found_);
  }
  // Maps and verifies a cache file. Returns DATA_LOSS for any damage.
  static absl::StatusOr<ByteCache> Map(const std::string& path, const std::string& fingerprint);

  void* mapping_ = nullptr;
  size_t mapped_bytes_ = 0;
  std::span<const uint8_t> bytes_;
  std::string fingerprint_;
  bool found_ = false;
};

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_KINDS_BYTE_CACHE_H_
