#include "worker/data/token_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/process.h"
#include "worker/data/fingerprint.h"

namespace rekindle::data {
namespace {

constexpr std::array<char, 8> kMagic = {'R', 'K', 'T', 'O', 'K', 'E', 'N', 'S'};
constexpr uint32_t kVersion = 1;
constexpr size_t kFingerprintDigits = 32;
constexpr time_t kAbandonedAfterSeconds = 3600;

struct Header {
  std::array<char, 8> magic = kMagic;
  uint32_t version = kVersion;
  uint32_t vocabulary = 256;
  uint64_t length = 0;  // Tokens that follow.
  std::array<char, kFingerprintDigits> fingerprint = {};
  uint64_t checksum = 0;  // XXH3-64 of the bytes before it.

  uint64_t Checksum() const { return XXH3_64bits(this, offsetof(Header, checksum)); }
};
static_assert(sizeof(Header) == 64, "the header is written as it lies in memory");

absl::Status SystemError(const std::string& what, int error, const std::string& fix) {
  std::string text = absl::StrCat(what, ": ", std::generic_category().message(error), fix.empty() ? "" : "; ", fix);
  switch (error) {
    case ENOENT:
      return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(text);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::ResourceExhaustedError(text);
    default:
      return absl::FailedPreconditionError(text);
  }
}

// A file in the cache folder under a temporary name until Publish.
class NewFile {
 public:
  static absl::StatusOr<NewFile> Create(const std::string& folder) {
    std::string path = folder + "/tmp-XXXXXX";
    int fd = mkostemp(path.data(), O_CLOEXEC);
    if (fd < 0)
      return SystemError("token cache: cannot write in " + folder, errno, "choose a folder that can be written");
    return NewFile(fd, folder, path);
  }
  NewFile(NewFile&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), folder_(other.folder_), path_(std::exchange(other.path_, "")) {}
  ~NewFile() {
    if (fd_ >= 0) close(fd_);
    if (!path_.empty()) unlink(path_.c_str());
  }

  // `offset` < 0: at the end.
  absl::Status Write(const void* data, size_t size, off_t offset = -1) {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
      ssize_t n = offset < 0 ? write(fd_, at, size) : pwrite(fd_, at, size, offset);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        return SystemError("token cache: cannot write to " + folder_, n < 0 ? errno : ENOSPC,
                           "free some space or choose another folder");
      }
      at += n;
      size -= n;
      if (offset >= 0) offset += n;
    }
    return absl::OkStatus();
  }

  absl::Status Publish(const std::string& name) {
    std::string target = folder_ + "/" + name;
    if (close(std::exchange(fd_, -1)) != 0) return SystemError("token cache: cannot write " + target, errno, "");
    if (rename(path_.c_str(), target.c_str()) != 0) {
      return SystemError("token cache: cannot make " + target, errno, "");
    }
    path_.clear();
    return absl::OkStatus();
  }

 private:
  NewFile(int fd, std::string folder, std::string path) : fd_(fd), folder_(std::move(folder)), path_(std::move(path)) {}

  int fd_;
  std::string folder_;
  std::string path_;
};

// What processes left that died while they wrote.
void RemoveAbandoned(const std::string& folder) {
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return;
  time_t now = time(nullptr);
  while (dirent* entry = readdir(entries)) {
    std::string path = absl::StrCat(folder, "/", entry->d_name);
    struct stat info;
    bool temporary = absl::StartsWith(entry->d_name, "tmp-");
    if (temporary && lstat(path.c_str(), &info) == 0 && info.st_mtime + kAbandonedAfterSeconds < now) {
      unlink(path.c_str());
    }
  }
  closedir(entries);
}

std::string IndexName(const std::vector<TextFile>& files, int64_t max_bytes) {
  Fingerprinter hash;
  for (const TextFile& file : files) {
    hash.Add(file.path.c_str(), file.path.size() + 1);
    int64_t numbers[] = {file.size, file.modified_ns, file.changed_ns};
    hash.Add(numbers, sizeof(numbers));
  }
  hash.Add(&max_bytes, sizeof(max_bytes));
  hash.Add(&kVersion, sizeof(kVersion));
  return "index-" + hash.Finish();
}

bool IsFingerprint(const std::string& text) {
  return text.size() == kFingerprintDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// The fingerprint in an index file; empty when there is none that makes sense.
std::string ReadIndex(const std::string& path) {
  const common::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return "";
  std::string text(kFingerprintDigits + 1, '\0');
  ssize_t n = read(file.get(), text.data(), text.size());
  text.resize(n < 0 ? 0 : n);
  return IsFingerprint(text) ? text : "";
}

absl::Status WriteIndex(const std::string& folder, const std::string& name, const std::string& fingerprint) {
  absl::StatusOr<NewFile> index = NewFile::Create(folder);
  if (!index.ok()) return index.status();
  if (absl::Status status = index->Write(fingerprint.data(), fingerprint.size()); !status.ok()) return status;
  return index->Publish(name);
}

struct Copied {
  std::string fingerprint;
  int64_t bytes = 0;
  bool as_listed = true;  // No input has changed since it was found.
};

// Appends one input to `out`, at most `limit` bytes.
absl::Status CopyFile(const TextFile& file, const DataRoots& roots, int64_t limit, NewFile* out, Fingerprinter* hash,
                      Copied* copied) {
  std::string what = "cannot read " + file.path;
  const absl::StatusOr<common::UniqueFd> opened = roots.Open(file.path);
  if (!opened.ok()) return opened.status();
  const common::UniqueFd& input = *opened;
  std::vector<char> buffer(1 << 20);
  int64_t done = 0;
  while (done < limit) {
    size_t want = static_cast<size_t>(std::min<int64_t>(limit - done, static_cast<int64_t>(buffer.size())));
    ssize_t n = read(input.get(), buffer.data(), want);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return SystemError(what, errno, "");
    if (n == 0) break;
    hash->Add(buffer.data(), n);
    if (absl::Status status = out->Write(buffer.data(), n); !status.ok()) return status;
    done += n;
  }
  struct stat info;
  if (fstat(input.get(), &info) != 0) return SystemError(what, errno, "");
  int64_t modified = int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  copied->as_listed &= info.st_size == file.size && modified == file.modified_ns;
  copied->bytes += done;
  return absl::OkStatus();
}

// Tokenises into a new cache file and publishes it.
absl::StatusOr<Copied> Build(const std::vector<TextFile>& files, const DataRoots& roots, int64_t max_bytes,
                             const std::string& folder) {
  RemoveAbandoned(folder);
  absl::StatusOr<NewFile> out = NewFile::Create(folder);
  if (!out.ok()) return out.status();
  Header header;
  if (absl::Status status = out->Write(&header, sizeof(header)); !status.ok()) return status;
  Fingerprinter hash;
  Copied copied;
  int64_t limit = max_bytes > 0 ? max_bytes : std::numeric_limits<int64_t>::max();
  for (const TextFile& file : files) {
    if (copied.bytes >= limit) break;
    absl::Status status = CopyFile(file, roots, limit - copied.bytes, &*out, &hash, &copied);
    if (!status.ok()) return status;
  }
  if (copied.bytes == 0) return absl::InvalidArgumentError("the files hold no bytes");
  copied.fingerprint = hash.Finish();
  header.length = copied.bytes;
  std::memcpy(header.fingerprint.data(), copied.fingerprint.data(), kFingerprintDigits);
  header.checksum = header.Checksum();
  if (absl::Status status = out->Write(&header, sizeof(header), 0); !status.ok()) return status;
  if (absl::Status status = out->Publish("tokens-" + copied.fingerprint); !status.ok()) return status;
  return copied;
}

}  // namespace

TokenCache::~TokenCache() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
}

absl::StatusOr<TokenCache> TokenCache::Map(const std::string& path, const std::string& fingerprint) {
  auto damaged = [&](const char* why) { return absl::DataLossError(absl::StrCat("token cache: ", path, " ", why)); };
  const common::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (file.get() < 0 || fstat(file.get(), &info) != 0) {
    return SystemError("token cache: cannot read " + path, errno, "");
  }
  if (info.st_size <= static_cast<off_t>(sizeof(Header))) return damaged("is cut short");
  TokenCache cache;
  cache.mapped_bytes_ = info.st_size;
  void* mapping = mmap(nullptr, cache.mapped_bytes_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapping == MAP_FAILED) return SystemError("token cache: cannot map " + path, errno, "");
  cache.mapping_ = mapping;
  Header header;
  std::memcpy(&header, mapping, sizeof(header));
  if (header.magic != kMagic || header.checksum != header.Checksum()) return damaged("has a damaged header");
  if (header.version != kVersion || header.vocabulary != 256) return damaged("is of another version");
  if (header.length != cache.mapped_bytes_ - sizeof(Header)) return damaged("has a wrong length");
  cache.tokens_ = {static_cast<const uint8_t*>(mapping) + sizeof(Header), header.length};
  cache.fingerprint_ = Fingerprint(cache.tokens_.data(), cache.tokens_.size());
  if (cache.fingerprint_ != fingerprint) return damaged("has damaged content");
  if (std::memcmp(header.fingerprint.data(), fingerprint.data(), kFingerprintDigits) != 0) {
    return damaged("has the fingerprint of other content");
  }
  return cache;
}

absl::StatusOr<TokenCache> TokenCache::Open(const std::vector<TextFile>& files, int64_t max_bytes,
                                            const std::string& folder, const DataRoots& roots) {
  // What is in it is the job's text.
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return SystemError("token cache: cannot make the folder " + folder, errno, "choose another");
  }
  std::string index = IndexName(files, max_bytes);
  if (std::string fingerprint = ReadIndex(folder + "/" + index); !fingerprint.empty()) {
    absl::StatusOr<TokenCache> cache = Map(folder + "/tokens-" + fingerprint, fingerprint);
    if (cache.ok()) {
      cache->found_ = true;
      return cache;
    }
  }
  absl::StatusOr<Copied> copied = Build(files, roots, max_bytes, folder);
  if (!copied.ok()) return copied.status();
  absl::StatusOr<TokenCache> cache = Map(folder + "/tokens-" + copied->fingerprint, copied->fingerprint);
  if (!cache.ok() || !copied->as_listed) return cache;
  if (absl::Status status = WriteIndex(folder, index, copied->fingerprint); !status.ok()) return status;
  return cache;
}

}  // namespace rekindle::data
