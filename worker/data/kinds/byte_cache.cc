#include "worker/data/kinds/byte_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/files/file.h"
#include "common/files/unique_fd.h"
#include "worker/data/kinds/cache_folder.h"
#include "worker/data/samples/fingerprint.h"

namespace rekindle::data {

ByteCache::~ByteCache() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
}

absl::StatusOr<ByteCache> ByteCache::Map(const std::string& path, const std::string& fingerprint) {
  auto damaged = [&](const char* why) { return absl::DataLossError(absl::StrCat("token cache: ", path, " ", why)); };
  const common::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (file.get() < 0 || fstat(file.get(), &info) != 0) {
    return CacheError(common::ErrnoStatus(errno, "cannot read", path));
  }
  if (info.st_size <= static_cast<off_t>(sizeof(CacheHeader))) return damaged("is cut short");
  ByteCache cache;
  cache.mapped_bytes_ = info.st_size;
  void* mapping = mmap(nullptr, cache.mapped_bytes_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapping == MAP_FAILED) return CacheError(common::ErrnoStatus(errno, "cannot map", path));
  cache.mapping_ = mapping;
  CacheHeader header;
  std::memcpy(&header, mapping, sizeof(header));
  if (header.magic != CacheHeader::kMagic || header.checksum != header.Checksum())
    return damaged("has a damaged header");
  if (header.version != CacheHeader::kVersion || header.vocabulary != 256) return damaged("is of another version");
  if (header.length != cache.mapped_bytes_ - sizeof(CacheHeader)) return damaged("has a wrong length");
  cache.bytes_ = {static_cast<const uint8_t*>(mapping) + sizeof(CacheHeader), header.length};
  cache.fingerprint_ = Fingerprint(cache.bytes_.data(), cache.bytes_.size());
  if (cache.fingerprint_ != fingerprint) return damaged("has damaged content");
  if (std::memcmp(header.fingerprint.data(), fingerprint.data(), kFingerprintDigits) != 0) {
    return damaged("has the fingerprint of other content");
  }
  return cache;
}

absl::StatusOr<ByteCache> ByteCache::Open(const std::vector<InputFile>& files, int64_t max_bytes,
                                          const std::string& folder, const DataRoots& roots) {
  CacheFolder cache_folder(*common::PosixFileSystem(), folder);
  if (absl::Status status = cache_folder.Create(); !status.ok()) return status;
  const std::string index = CacheFolder::IndexName(files, max_bytes);
  if (const std::string fingerprint = cache_folder.ReadIndex(index); !fingerprint.empty()) {
    absl::StatusOr<ByteCache> cache = Map(cache_folder.TokensFile(fingerprint), fingerprint);
    if (cache.ok()) {
      cache->found_ = true;
      return cache;
    }
  }
  const absl::StatusOr<CacheFolder::Built> built = cache_folder.Build(files, roots, max_bytes);
  if (!built.ok()) return built.status();
  absl::StatusOr<ByteCache> cache = Map(cache_folder.TokensFile(built->fingerprint), built->fingerprint);
  if (!cache.ok() || !built->as_listed) return cache;
  if (absl::Status status = cache_folder.WriteIndex(index, built->fingerprint); !status.ok()) return status;
  return cache;
}

}  // namespace rekindle::data
