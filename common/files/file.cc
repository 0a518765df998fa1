#include "common/files/file.h"

#include <errno.h>

#include <atomic>
#include <cstring>
#include <new>
#include <random>

#include "absl/strings/str_cat.h"

namespace rekindle::common {
namespace {

constexpr char kTemporaryMark[] = ".tmp-";

}  // namespace

void FreeBlocks::operator()(uint8_t* memory) const { ::operator delete (memory, std::align_val_t{kBlockBytes}); }

Blocks NewBlocks(size_t bytes) {
  return Blocks(static_cast<uint8_t*>(::operator new (bytes, std::align_val_t{kBlockBytes})));
}

absl::Status ErrnoStatus(int error, std::string_view what, std::string_view path) {
  std::string message(what);
  absl::StrAppend(&message, " ", std::string(path), ": ", std::string(std::strerror(error)));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(message);
    case EEXIST:
      return absl::AlreadyExistsError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return absl::ResourceExhaustedError(message);
    default:
      return absl::InternalError(message);
  }
}

std::string DirName(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

absl::StatusOr<std::string> ReadFile(FileSystem& fs, const std::string& path, size_t limit) {
  auto file = fs.Open(path);
  if (!file.ok()) return file.status();
  const auto size = (*file)->Size();
  if (!size.ok()) return size.status();
  if (static_cast<uint64_t>(*size) > limit) {
    return absl::OutOfRangeError(absl::StrCat(path, " has ", *size, " bytes, more than the ", limit, " allowed"));
  }
  std::string content(static_cast<size_t>(*size), '\0');
  const auto got = (*file)->ReadAt(0, content.data(), content.size());
  if (!got.ok()) return got.status();
  content.resize(*got);
  return content;
}

absl::Status CreateFolders(FileSystem& fs, const std::string& path) {
  const auto info = fs.Stat(path);
  if (info.ok()) {
    return info->is_folder ? absl::OkStatus()
                           : absl::AlreadyExistsError(absl::StrCat(path, " is there and is not a folder"));
  }
  if (!absl::IsNotFound(info.status())) return info.status();
  const std::string parent = DirName(path);
  if (parent != path) {
    if (absl::Status status = CreateFolders(fs, parent); !status.ok()) return status;
  }
  if (absl::Status status = fs.CreateFolder(path); !status.ok()) return status;
  return fs.SyncDir(parent);
}

std::string TemporaryName(const std::string& path) {
  static const unsigned process = std::random_device{}();
  static std::atomic<unsigned> counter{0};
  return absl::StrCat(path, kTemporaryMark, absl::Hex(process, absl::kZeroPad8), "-", ++counter);
}

bool IsTemporaryName(std::string_view name) { return name.find(kTemporaryMark) != std::string_view::npos; }

absl::Status WriteFileAtomic(FileSystem& fs, const std::string& path, std::string_view content) {
  const std::string temporary = TemporaryName(path);
  auto write = [&]() -> absl::Status {
    auto file = fs.Create(temporary);
    if (!file.ok()) return file.status();
    absl::Status status = (*file)->Append(content.data(), content.size());
    if (status.ok()) status = (*file)->Sync();
    const absl::Status closed = (*file)->Close();
    if (status.ok()) status = closed;
    if (status.ok()) status = fs.Rename(temporary, path);
    return status;
  };
  if (absl::Status status = write(); !status.ok()) {
    fs.Remove(temporary).IgnoreError();
    return status;
  }
  return fs.SyncDir(DirName(path));
}

}  // namespace rekindle::common
