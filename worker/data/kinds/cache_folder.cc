#include "worker/data/kinds/cache_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/files/unique_fd.h"
#include "common/time/clock.h"

namespace rekindle::data {
namespace {

constexpr double kAbandonedAfterSeconds = 3600;
constexpr size_t kPiece = 1 << 20;
constexpr char kNeedsSpace[] = "; free some space or choose another folder";

// Earlier releases gave cache files that were not complete yet the name "tmp-...".
bool IsUnfinished(const std::string& name) { return common::IsTemporaryName(name) || absl::StartsWith(name, "tmp-"); }

bool IsFingerprint(const std::string& text) {
  return text.size() == kFingerprintDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Appends at most `limit` bytes of one input file to `out`.
absl::Status CopyInput(const InputFile& input, const DataRoots& roots, int64_t limit, common::WritableFile& out,
                       Fingerprinter* hash, CacheFolder::Built* built) {
  const absl::StatusOr<common::UniqueFd> file = roots.Open(input.path);
  if (!file.ok()) return file.status();
  std::vector<char> buffer(kPiece);
  int64_t done = 0;
  while (done < limit) {
    const auto want = static_cast<size_t>(std::min<int64_t>(limit - done, static_cast<int64_t>(buffer.size())));
    const ssize_t n = read(file->get(), buffer.data(), want);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Unreadable(input.path, errno);
    if (n == 0) break;
    hash->Add(buffer.data(), static_cast<size_t>(n));
    if (absl::Status status = out.Append(buffer.data(), static_cast<size_t>(n)); !status.ok()) {
      return CacheError(status, kNeedsSpace);
    }
    done += n;
  }
  struct stat info;
  if (fstat(file->get(), &info) != 0) return Unreadable(input.path, errno);
  const int64_t modified = int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  built->as_listed &= info.st_size == input.size && modified == input.modified_ns;
  built->bytes += done;
  return absl::OkStatus();
}

// Writes the header and the bytes of the inputs. The header is written again once length and fingerprint are known.
absl::StatusOr<CacheFolder::Built> WriteTokens(const std::vector<InputFile>& inputs, const DataRoots& roots,
                                               int64_t limit, common::WritableFile& out) {
  CacheHeader header;
  if (absl::Status status = out.Append(&header, sizeof(header)); !status.ok()) return CacheError(status, kNeedsSpace);
  Fingerprinter hash;
  CacheFolder::Built built;
  for (const InputFile& input : inputs) {
    if (built.bytes >= limit) break;
    absl::Status status = CopyInput(input, roots, limit - built.bytes, out, &hash, &built);
    if (!status.ok()) return status;
  }
  if (built.bytes == 0) return absl::InvalidArgumentError("the files hold no bytes");
  built.fingerprint = hash.Finish();
  header.length = static_cast<uint64_t>(built.bytes);
  std::memcpy(header.fingerprint.data(), built.fingerprint.data(), kFingerprintDigits);
  header.checksum = header.Checksum();
  if (absl::Status status = out.Overwrite(0, &header, sizeof(header)); !status.ok()) {
    return CacheError(status, kNeedsSpace);
  }
  return built;
}

}  // namespace

absl::Status CacheError(const absl::Status& status, const char* fix) {
  const absl::StatusCode code = absl::IsInternal(status) ? absl::StatusCode::kFailedPrecondition : status.code();
  return absl::Status(code, absl::StrCat("token cache: ", status.message(), fix));
}

std::string CacheFolder::IndexName(const std::vector<InputFile>& inputs, int64_t max_bytes) {
  Fingerprinter hash;
  for (const InputFile& input : inputs) {
    hash.Add(input.path.c_str(), input.path.size() + 1);
    const int64_t numbers[] = {input.size, input.modified_ns, input.changed_ns};
    hash.Add(numbers, sizeof(numbers));
  }
  hash.Add(&max_bytes, sizeof(max_bytes));
  const uint32_t version = CacheHeader::kVersion;
  hash.Add(&version, sizeof(version));
  return "index-" + hash.Finish();
}

absl::Status CacheFolder::Create() {
  const absl::Status status = files_.CreateFolder(path_);
  return status.ok() ? status : CacheError(status, "; choose another");
}

std::string CacheFolder::ReadIndex(const std::string& name) {
  const auto text = common::ReadFile(files_, path_ + "/" + name, kFingerprintDigits);
  return text.ok() && IsFingerprint(*text) ? *text : "";
}

absl::Status CacheFolder::WriteIndex(const std::string& name, const std::string& fingerprint) {
  const absl::Status status = common::WriteFileAtomic(files_, path_ + "/" + name, fingerprint);
  return status.ok() ? status : CacheError(status, kNeedsSpace);
}

void CacheFolder::RemoveAbandoned() {
  const auto names = files_.List(path_);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (!IsUnfinished(name)) continue;
    const std::string path = path_ + "/" + name;
    const auto info = files_.Stat(path);
    if (info.ok() && info->modified + kAbandonedAfterSeconds < common::WallSeconds()) files_.Remove(path).IgnoreError();
  }
}

absl::StatusOr<CacheFolder::Built> CacheFolder::Build(const std::vector<InputFile>& inputs, const DataRoots& roots,
                                                      int64_t max_bytes) {
  RemoveAbandoned();
  const std::string temporary = common::TemporaryName(path_ + "/tokens");
  const auto write = [&]() -> absl::StatusOr<Built> {
    const auto file = files_.Create(temporary);
    if (!file.ok()) return CacheError(file.status(), "; choose a folder that can be written");
    const int64_t limit = max_bytes > 0 ? max_bytes : std::numeric_limits<int64_t>::max();
    auto built = WriteTokens(inputs, roots, limit, **file);
    absl::Status status = (*file)->Close();
    if (!built.ok()) return built;
    if (status.ok()) status = files_.Rename(temporary, TokensFile(built->fingerprint));
    if (!status.ok()) return CacheError(status, kNeedsSpace);
    return built;
  };
  auto built = write();
  if (!built.ok()) files_.Remove(temporary).IgnoreError();
  return built;
}

}  // namespace rekindle::data
