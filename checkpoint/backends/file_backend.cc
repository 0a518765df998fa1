#include "checkpoint/backends/file_backend.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/digest/hash.h"

namespace rekindle::checkpoint {
namespace {

constexpr int64_t kPiece = 1 << 20;

// Reads a file piece by piece and passes the pieces to `sink`. `into` has the meaning that it has in
// StoreBackend::Read.
absl::Status ForPieces(const common::ReadableFile& source, int64_t bytes, const StoreBackend::Sink& sink,
                       uint8_t* into) {
  const common::Blocks own =
      into != nullptr ? nullptr : common::NewBlocks(static_cast<size_t>(std::min<int64_t>(bytes, kPiece)));
  for (int64_t at = 0; at < bytes; at += kPiece) {
    const size_t want = static_cast<size_t>(std::min<int64_t>(kPiece, bytes - at));
    uint8_t* const piece = into != nullptr ? into + at : own.get();
    const auto got = source.ReadAt(at, piece, want);
    if (!got.ok()) return got.status();
    if (*got != want) return absl::DataLossError(absl::StrCat("it ends after ", at + *got, " of ", bytes, " bytes"));
    if (absl::Status status = sink(at, piece, want); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

// Writes the content to a temporary file and hashes it. Each piece is hashed after it is written. If it were hashed
// before, a change of the content between the hash and the write would go unnoticed.
absl::Status FileBackend::Write(std::span<const uint8_t> content, const std::string& xxh3,
                                const std::string& temporary) {
  auto file = fs_.Create(temporary);
  if (!file.ok()) return file.status();
  common::Hasher hasher;
  absl::Status status;
  for (; status.ok() && !content.empty(); content = content.subspan(std::min(content.size(), size_t{kPiece}))) {
    const auto piece = content.first(std::min(content.size(), size_t{kPiece}));
    status = (*file)->Append(piece.data(), piece.size());
    hasher.Update(piece.data(), piece.size());
  }
  if (status.ok() && hasher.Hex() != xxh3) status = ChangedAfterHandOver(hasher.Hex(), xxh3);
  if (status.ok()) status = (*file)->Sync();
  const absl::Status closed = (*file)->Close();
  return status.ok() ? closed : status;
}

absl::Status FileBackend::PutShard(const std::string& path, std::span<const uint8_t> content, const std::string& xxh3) {
  const std::string full = Full(path);
  if (absl::Status status = common::CreateFolders(fs_, common::DirName(full)); !status.ok()) return status;
  const std::string temporary = common::TemporaryName(full);
  absl::Status status = Write(content, xxh3, temporary);
  if (status.ok()) status = fs_.Rename(temporary, full);
  if (!status.ok()) fs_.Remove(temporary).IgnoreError();
  return status;
}

absl::Status FileBackend::Put(const std::string& path, const std::string& content) {
  const std::string full = Full(path);
  if (absl::Status status = common::CreateFolders(fs_, common::DirName(full)); !status.ok()) return status;
  return common::WriteFileAtomic(fs_, full, content);
}

absl::Status FileBackend::Remove(const std::string& path) {
  const absl::Status status = fs_.Remove(Full(path));
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

absl::Status FileBackend::Read(const std::string& path, int64_t size, const Sink& sink, uint8_t* into) {
  const auto file = fs_.Open(Full(path));
  if (!file.ok()) return file.status();
  const auto found = (*file)->Size();
  if (!found.ok()) return found.status();
  if (*found != size) return absl::DataLossError(absl::StrCat("it has ", *found, " bytes instead of ", size));
  return ForPieces(**file, size, sink, into);
}

absl::StatusOr<std::vector<absl::StatusOr<common::FileInfo>>> FileBackend::StatAll(
    const std::string& folder, const std::vector<std::string>& names) {
  std::vector<absl::StatusOr<common::FileInfo>> infos;
  for (const std::string& name : names) {
    infos.push_back(Stat(absl::StrCat(folder, "/", name)));
    if (!infos.back().ok() && !absl::IsNotFound(infos.back().status())) return infos.back().status();
  }
  return infos;
}

absl::StatusOr<std::vector<std::string>> FileBackend::List(const std::string& folder) {
  auto names = fs_.List(Full(folder));
  if (absl::IsNotFound(names.status())) return std::vector<std::string>();
  return names;
}

}  // namespace rekindle::checkpoint
