#include "coordinator/bundles/bundle_shelf.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "common/bundle/bundle.h"
#include "common/bundle/bundle_reader.h"
#include "common/files/file.h"
#include "common/files/unique_fd.h"
#include "common/log/log.h"

namespace rekindle::coordinator {
namespace {

constexpr char kUnfinishedSuffix[] = ".part";

absl::Status CheckAddress(const std::string& address) {
  if (common::IsBundleAddress(address)) return absl::OkStatus();
  return absl::InvalidArgumentError("address: a bundle has an address of 64 lower-case hex digits");
}

int64_t Mega(int64_t bytes) { return (bytes + (1 << 20) - 1) >> 20; }

absl::Status WriteAt(const std::string& path, int64_t offset, const std::string& data) {
  const common::UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return common::ErrnoStatus(errno, "cannot open", path);
  for (size_t at = 0; at < data.size();) {
    const ssize_t written = pwrite(file.get(), data.data() + at, data.size() - at, offset + static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return common::ErrnoStatus(errno, "cannot write", path);
    at += static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

absl::Status SyncFile(const std::string& path) {
  const common::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() || fsync(file.get()) != 0) return common::ErrnoStatus(errno, "cannot sync", path);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<BundleShelf>> BundleShelf::Open(Options options) {
  if (absl::Status made = common::CreateFolders(*common::PosixFileSystem(), options.folder); !made.ok()) return made;
  std::unique_ptr<BundleShelf> shelf(new BundleShelf(std::move(options)));
  const common::MutexLock lock(shelf->mutex_);
  if (absl::Status loaded = shelf->Load(); !loaded.ok()) return loaded;
  return shelf;
}

absl::Status BundleShelf::Load() {
  common::FileSystem& fs = *common::PosixFileSystem();
  const auto names = fs.List(options_.folder);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    const std::string address(absl::StripSuffix(name, kUnfinishedSuffix));
    if (!common::IsBundleAddress(address)) continue;
    const auto info = fs.Stat(options_.folder + "/" + name);
    // A crash of the machine may leave an empty file, which is no bundle.
    if (!info.ok() || info->size == 0) continue;
    if (name == address) {
      kept_[address] = {.bytes = info->size, .at = info->modified};
      Publish(address);
    } else {
      unfinished_[address] = {.bytes = 0, .have = info->size, .at = info->modified};
    }
  }
  return absl::OkStatus();
}

int64_t BundleShelf::Used() const {
  int64_t used = 0;
  for (const auto& [address, kept] : kept_) used += kept.bytes;
  for (const auto& [address, part] : unfinished_) used += std::max(part.bytes, part.have);
  return used;
}

bool BundleShelf::RemoveOne(const std::set<std::string>& named) {
  const std::set<std::string> spared = Spared();
  std::string oldest, path;
  double at = options_.wall() - kUnnamedSeconds;
  for (const auto& [address, kept] : kept_) {
    if (kept.at >= at || named.count(address) > 0 || spared.count(address) > 0) continue;
    oldest = address, path = PathOf(address), at = kept.at;
  }
  for (const auto& [address, part] : unfinished_) {
    if (part.at < at) oldest = address, path = UnfinishedPath(address), at = part.at;
  }
  if (oldest.empty()) return false;
  const bool is_kept = path == PathOf(oldest);
  if (is_kept && !Withdraw(oldest)) return true;
  const absl::Status removed = common::PosixFileSystem()->Remove(path);
  if (!removed.ok() && !absl::IsNotFound(removed)) {
    log::Warning("a bundle that no job names cannot be removed", {{"error", std::string(removed.message())}});
    if (is_kept) Publish(oldest);
    return false;
  }
  log::Info("removed a bundle that no job names", {{"bundle", oldest}});
  is_kept ? kept_.erase(oldest) : unfinished_.erase(oldest);
  return true;
}

absl::Status BundleShelf::MakeRoom(int64_t bytes, const std::set<std::string>& named) {
  const absl::StatusOr<common::DiskSpace> space = options_.space(options_.folder);
  const bool is_known = space.ok() && space->total > 0;
  int64_t most = options_.max_bytes;
  if (is_known) most = std::min(most, static_cast<int64_t>(kShareOfDisk * static_cast<double>(space->total)));
  while (Used() + bytes > most || kept_.size() + unfinished_.size() >= options_.max_bundles) {
    if (RemoveOne(named)) continue;
    return absl::ResourceExhaustedError(
        absl::StrCat("there is no room for a bundle of ", Mega(bytes), " MB: this coordinator has ",
                     kept_.size() + unfinished_.size(), " of at most ", options_.max_bundles, " bundles, with ",
                     Mega(Used()), " of at most ", most >> 20,
                     " MB, and jobs need them or may soon: forget jobs that are over by `rekindle rm "
                     "JOB`, make the bundle smaller, or start the coordinator with a higher --bundles-total"));
  }
  if (!is_known ||
      static_cast<double>(space->free - bytes) >= common::kNearlyFullShare * static_cast<double>(space->total)) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat("the coordinator's disk has no room for a bundle of ", Mega(bytes),
                                                   " MB: free some of it and submit again"));
}

absl::StatusOr<BundleShelf::Progress> BundleShelf::Begin(const std::string& address, int64_t bytes,
                                                         const std::set<std::string>& named) {
  if (absl::Status valid = CheckAddress(address); !valid.ok()) return valid;
  if (bytes <= 0 || bytes > common::kMaxPackedBundleBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("bytes: a packed bundle has 1 to ", common::kMaxPackedBundleBytes >> 20, " MB"));
  }
  const common::MutexLock lock(mutex_);
  const auto kept = kept_.find(address);
  if (kept != kept_.end()) {
    // The job that names it is submitted next, so it is young again.
    kept->second.at = options_.wall();
    common::PosixFileSystem()->Touch(PathOf(address)).IgnoreError();
    return Progress{kept->second.bytes, true};
  }
  const auto known = unfinished_.find(address);
  if (known != unfinished_.end() && known->second.bytes == bytes) return Progress{known->second.have, false};
  if (known != unfinished_.end()) {
    // Another packed form of the bundle was begun, or an earlier process did not write down how long it is.
    // One that is all there was not found to be right before that process ended.
    const bool may_go_on = known->second.bytes == 0 && known->second.have < bytes;
    const int64_t have = may_go_on ? known->second.have : 0;
    unfinished_.erase(known);
    absl::Status room = MakeRoom(bytes, named);
    if (!may_go_on || !room.ok()) common::PosixFileSystem()->Remove(UnfinishedPath(address)).IgnoreError();
    if (!room.ok()) return room;
    unfinished_[address] = {.bytes = bytes, .have = have, .at = options_.wall()};
    return Progress{have, false};
  }
  if (unfinished_.size() >= kMaxUnfinished && !RemoveOne(named)) {
    return absl::ResourceExhaustedError(
        absl::StrCat(unfinished_.size(), " bundles are being sent at the same time: try again"));
  }
  if (absl::Status room = MakeRoom(bytes, named); !room.ok()) return room;
  unfinished_[address] = {.bytes = bytes, .have = 0, .at = options_.wall()};
  return Progress{};
}

absl::StatusOr<BundleShelf::Progress> BundleShelf::Append(const std::string& address, int64_t bytes, int64_t offset,
                                                          const std::string& data) {
  if (absl::Status valid = CheckAddress(address); !valid.ok()) return valid;
  const common::MutexLock lock(mutex_);
  if (const auto kept = kept_.find(address); kept != kept_.end()) return Progress{kept->second.bytes, true};
  const auto found = unfinished_.find(address);
  if (found == unfinished_.end() || found->second.bytes != bytes) {
    return absl::NotFoundError("this bundle was not begun, or was removed meanwhile: send it from its beginning");
  }
  Unfinished& part = found->second;
  if (offset != part.have) return Progress{part.have, false};
  if (static_cast<int64_t>(data.size()) > bytes - offset) {
    return absl::InvalidArgumentError("data: goes on after the end of the bundle");
  }
  if (absl::Status written = WriteAt(UnfinishedPath(address), offset, data); !written.ok()) {
    if (!absl::IsResourceExhausted(written)) return written;
    return absl::ResourceExhaustedError(absl::StrCat("the coordinator's disk has no room for a bundle (",
                                                     written.message(), "): free some of it and submit again"));
  }
  part.have += static_cast<int64_t>(data.size());
  part.at = options_.wall();
  return part.have < bytes ? Progress{part.have, false} : Complete(address);
}

absl::StatusOr<BundleShelf::Progress> BundleShelf::Complete(const std::string& address) {
  common::FileSystem& fs = *common::PosixFileSystem();
  const std::string path = UnfinishedPath(address);
  const int64_t bytes = unfinished_[address].bytes;
  absl::Status status = SyncFile(path);
  if (status.ok()) status = common::CheckBundleFile(fs, path, address).status();
  if (status.ok()) status = fs.Rename(path, PathOf(address));
  if (status.ok()) status = fs.SyncDir(options_.folder);
  if (!status.ok()) {
    unfinished_.erase(address);
    fs.Remove(path).IgnoreError();
    return status;
  }
  unfinished_.erase(address);
  kept_[address] = {.bytes = bytes, .at = options_.wall()};
  Publish(address);
  return Progress{bytes, true};
}

absl::StatusOr<BundleShelf::Piece> BundleShelf::Read(const std::string& address, int64_t offset) {
  if (absl::Status valid = CheckAddress(address); !valid.ok()) return valid;
  const auto file = common::PosixFileSystem()->Open(PathOf(address));
  if (absl::IsNotFound(file.status())) {
    return absl::NotFoundError(absl::StrCat("the coordinator does not have the bundle ", address,
                                            " any more: submit its job again from its folder"));
  }
  if (!file.ok()) return file.status();
  const absl::StatusOr<int64_t> size = (*file)->Size();
  if (!size.ok()) return size.status();
  if (offset < 0 || offset > *size) return absl::OutOfRangeError("offset: is beyond the end of the bundle");
  Piece piece{.bytes = *size, .data = {}};
  piece.data.resize(static_cast<size_t>(std::min<int64_t>(common::kMaxBundlePieceBytes, *size - offset)));
  const absl::StatusOr<size_t> got = (*file)->ReadAt(offset, piece.data.data(), piece.data.size());
  if (!got.ok()) return got.status();
  piece.data.resize(*got);
  return piece;
}

bool BundleShelf::Has(const std::string& address) const {
  const common::MutexLock lock(complete_mutex_);
  return complete_.count(address) > 0;
}

bool BundleShelf::Claim(const std::string& address) {
  const common::MutexLock lock(complete_mutex_);
  const auto found = complete_.find(address);
  if (found == complete_.end()) return false;
  found->second = options_.wall();
  return true;
}

std::shared_ptr<const std::set<std::string>> BundleShelf::Hold() {
  const common::MutexLock lock(complete_mutex_);
  std::erase_if(held_, [](const auto& held) { return held.expired(); });
  auto all = std::make_shared<std::set<std::string>>();
  for (const auto& [address, claimed_at] : complete_) all->insert(address);
  held_.push_back(all);
  return all;
}

void BundleShelf::Publish(const std::string& address) {
  const common::MutexLock lock(complete_mutex_);
  complete_.emplace(address, 0);
}

bool BundleShelf::IsSpared(const std::string& address, double claimed_at) const {
  if (claimed_at > options_.wall() - kUnnamedSeconds) return true;
  for (const std::weak_ptr<const std::set<std::string>>& held : held_) {
    const auto holder = held.lock();
    if (holder != nullptr && holder->count(address) > 0) return true;
  }
  return false;
}

std::set<std::string> BundleShelf::Spared() const {
  const common::MutexLock lock(complete_mutex_);
  std::set<std::string> spared;
  for (const auto& [address, claimed_at] : complete_) {
    if (IsSpared(address, claimed_at)) spared.insert(address);
  }
  return spared;
}

bool BundleShelf::Withdraw(const std::string& address) {
  const common::MutexLock lock(complete_mutex_);
  const auto found = complete_.find(address);
  if (found != complete_.end() && IsSpared(address, found->second)) return false;
  if (found != complete_.end()) complete_.erase(found);
  return true;
}

absl::Status PlaceBundle(const std::string& data, const std::string& address, const std::string& packed) {
  if (absl::Status valid = CheckAddress(address); !valid.ok()) return valid;
  if (const auto right = common::CheckPackedBundle(packed, address); !right.ok()) return right.status();
  common::FileSystem& fs = *common::PosixFileSystem();
  const std::string folder = absl::StrCat(data, "/", kBundleFolder);
  if (absl::Status made = common::CreateFolders(fs, folder); !made.ok()) return made;
  return common::WriteFileAtomic(fs, absl::StrCat(folder, "/", address), packed);
}

}  // namespace rekindle::coordinator
