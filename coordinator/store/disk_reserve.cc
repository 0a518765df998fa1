#include "coordinator/store/disk_reserve.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/files/file.h"
#include "common/process/process.h"
#include "common/sync/mutex.h"

namespace rekindle::coordinator {
namespace {

constexpr size_t kChunk = 1 << 20;
constexpr int64_t kMiB = 1 << 20;

// Returns OK if the file is a disk reserve or what is left of one, which is a plain file of zeros.
absl::Status CheckIsReserve(int file, const std::string& path) {
  const absl::Status foreign =
      absl::FailedPreconditionError(absl::StrCat(path, " is not what this coordinator makes there: move it away"));
  struct stat facts = {};
  if (fstat(file, &facts) != 0) return common::ErrnoStatus(errno, "cannot look at", path);
  if (!S_ISREG(facts.st_mode) || facts.st_nlink > 1) return foreign;
  std::string bytes(kChunk, '\0');
  for (off_t at = 0; at < facts.st_size;) {
    const ssize_t read = pread(file, bytes.data(), bytes.size(), at);
    if (read < 0) return common::ErrnoStatus(errno, "cannot read", path);
    if (read == 0) break;
    if (bytes.find_first_not_of('\0', 0) < static_cast<size_t>(read)) return foreign;
    at += read;
  }
  return absl::OkStatus();
}

}  // namespace

DiskReserve::DiskReserve(Options options, common::Metrics* metrics)
    : options_(std::move(options)),
      held_bytes_(metrics->Gauge("rekindle_disk_reserve_bytes", "Disk space that is kept for the coordinator.")) {
  const common::MutexLock lock(mutex_);
  looked_at_ = options_.now();
  const absl::Status taken = Take();
  SetHeld(taken.ok());
  if (taken.ok()) return;
  Tell("disk_reserve_missing",
       absl::StrCat("no disk space is kept for the coordinator: ", taken.message(),
                    "; when the disk is full, nothing new can be decided: free some disk space"));
}

std::string DiskReserve::Path() const { return absl::StrCat(options_.folder, "/", kFile); }

absl::Status DiskReserve::Take() {
  const std::string path = Path();
  const common::UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!file.valid()) return common::ErrnoStatus(errno, "cannot make", path);
  if (absl::Status ours = CheckIsReserve(file.get(), path); !ours.ok()) return ours;
  // A reserve that exists is not made anew: on a full disk, others could take its blocks meanwhile. If the file was
  // copied with its folder, it may have holes, which posix_fallocate fills.
  int error = posix_fallocate(file.get(), 0, static_cast<off_t>(options_.bytes));
  if (error == 0 && ftruncate(file.get(), static_cast<off_t>(options_.bytes)) != 0) error = errno;
  if (error == 0) return absl::OkStatus();
  unlink(path.c_str());
  return common::ErrnoStatus(error, absl::StrCat("cannot allocate ", options_.bytes / kMiB, " MiB for"), path);
}

bool DiskReserve::Release() {
  const common::MutexLock lock(mutex_);
  if (!held_) return false;
  if (unlink(Path().c_str()) != 0 && errno != ENOENT) return false;
  SetHeld(false);
  looked_at_ = options_.now();
  Tell("disk_reserve_used", absl::StrCat("the disk of ", options_.folder, " is full: the coordinator goes on with the ",
                                         options_.bytes / kMiB,
                                         " MiB that it kept for itself, and takes no new jobs: free some disk space"));
  return true;
}

void DiskReserve::Tend() {
  const common::MutexLock lock(mutex_);
  if (held_ || options_.now() < looked_at_ + kRetrySeconds) return;
  looked_at_ = options_.now();
  const absl::StatusOr<DiskSpace> space = options_.space(options_.folder);
  if (!space.ok() || space->free < 2 * options_.bytes) return;
  if (!Take().ok()) return;
  SetHeld(true);
  Tell("disk_reserve_kept", absl::StrCat("the disk of ", options_.folder, " has room again: ", options_.bytes / kMiB,
                                         " MiB are kept for the coordinator"));
}

std::vector<v1::Event> DiskReserve::TakeEvents() {
  const common::MutexLock lock(mutex_);
  return std::exchange(events_, {});
}

bool DiskReserve::held() const {
  const common::MutexLock lock(mutex_);
  return held_;
}

absl::Status DiskReserve::CheckRoomForJobs() const {
  const absl::StatusOr<DiskSpace> space = options_.space(options_.folder);
  if (!space.ok() || space->total <= 0) return absl::OkStatus();
  const double free = static_cast<double>(space->free) / static_cast<double>(space->total);
  if (free > kFreeForJobs) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrFormat("the disk of the coordinator's folder %s has %.1f %% free (%d MiB), and takes new jobs from %.0f "
                      "%% on: free some "
                      "disk space there and submit again; jobs that were submitted go on",
                      options_.folder, std::floor(free * 1000) / 10, space->free / kMiB, kFreeForJobs * 100));
}

void DiskReserve::SetHeld(bool held) {
  held_ = held;
  held_bytes_.Set(held ? static_cast<double>(options_.bytes) : 0);
}

void DiskReserve::Tell(const char* kind, const std::string& text) {
  v1::Event& event = events_.emplace_back();
  event.set_kind(kind);
  event.set_text(text);
}

}  // namespace rekindle::coordinator
