// Writes and finds the files of a ByteCache, through a FileSystem, so that tests can make each operation fail.
#ifndef REKINDLE_WORKER_DATA_KINDS_CACHE_FOLDER_H_
#define REKINDLE_WORKER_DATA_KINDS_CACHE_FOLDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/files/file.h"
#include "worker/data/files/data_roots.h"
#include "worker/data/files/input_files.h"
#include "worker/data/samples/fingerprint.h"

namespace rekindle::data {

inline constexpr size_t kFingerprintDigits = 32;

// Is the header of a file `tokens-<fingerprint>`.
struct CacheHeader {
  static constexpr std::array<char, 8> kMagic = {'R', 'K', 'T', 'O', 'K', 'E', 'N', 'S'};
  static constexpr uint32_t kVersion = 1;

  std::array<char, 8> magic = kMagic;
  uint32_t version = kVersion;
  uint32_t vocabulary = 256;
  // `length` counts the bytes that follow the header.
  uint64_t length = 0;
  std::array<char, kFingerprintDigits> fingerprint = {};
  // `checksum` is the XXH3-64 of the header's bytes before it.
  uint64_t checksum = 0;

  uint64_t Checksum() const { return XXH3_64bits(this, offsetof(CacheHeader, checksum)); }
};
static_assert(sizeof(CacheHeader) == 64, "the header is written as it lies in memory");

// Returns an error of the cache with a text that says what to do about it. Its code is one of those of ByteCache::Open.
absl::Status CacheError(const absl::Status& status, const char* fix = "");

// CacheFolder is thread-safe, also beside other processes that use the same folder.
class CacheFolder {
 public:
  struct Built {
    std::string fingerprint;
    int64_t bytes = 0;
    // `as_listed` says that no input file has changed since it was found.
    bool as_listed = true;
  };

  // `files` is the file system that the cache folder is in, and it must outlive this object.
  CacheFolder(common::FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}

  std::string TokensFile(const std::string& fingerprint) const { return path_ + "/tokens-" + fingerprint; }
  // Returns the name of the index file for the first `max_bytes` bytes (with 0 all) of the files `inputs`.
  static std::string IndexName(const std::vector<InputFile>& inputs, int64_t max_bytes);

  // Makes the cache folder, for this user alone, if it is not there.
  absl::Status Create();
  // Returns the fingerprint in an index file, or an empty text if there is no valid index file.
  std::string ReadIndex(const std::string& name);
  absl::Status WriteIndex(const std::string& name, const std::string& fingerprint);
  // Copies the input files into a tokens file, which has its final name on return. Nothing is synced, because a damaged
  // file is found and built again. On an error no file is left. INVALID_ARGUMENT says that the inputs hold no bytes.
  absl::StatusOr<Built> Build(const std::vector<InputFile>& inputs, const DataRoots& roots, int64_t max_bytes);

 private:
  void RemoveAbandoned();

  common::FileSystem& files_;
  const std::string path_;
};

}  // namespace rekindle::data

#endif  // REKINDLE_WORKER_DATA_KINDS_CACHE_FOLDER_H_
