#include "coordinator/store/testing/power_loss_vfs.h"

#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rekindle::coordinator {
namespace {

using Result = PowerLossDisk::Result;

// The test's VFS reports sectors of `kSectorBytes` bytes, as SQLite's own VFS for Unix does.
constexpr int kSectorBytes = 4096;

struct Handle {
  sqlite3_file base;
  PowerLossDisk* disk;
  PowerLossDisk::FilePointer file;
};

Handle& Of(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }
PowerLossDisk& DiskOf(sqlite3_vfs* vfs) { return *static_cast<PowerLossDisk*>(vfs->pAppData); }

int Code(Result result, int failed) {
  if (result == Result::kDone) return SQLITE_OK;
  return result == Result::kFull ? SQLITE_FULL : failed;
}

int Close(sqlite3_file* file) {
  Of(file).~Handle();
  return SQLITE_OK;
}

int Read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  std::string bytes;
  const Result read = Of(file).disk->Read(Of(file).file, offset, size, &bytes);
  if (read != Result::kDone) return SQLITE_IOERR_READ;
  std::memset(to, 0, static_cast<size_t>(size));
  std::memcpy(to, bytes.data(), bytes.size());
  return bytes.size() == static_cast<size_t>(size) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int Write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  std::string bytes(static_cast<const char*>(from), static_cast<size_t>(size));
  return Code(Of(file).disk->Write(Of(file).file, offset, std::move(bytes)), SQLITE_IOERR_WRITE);
}

int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  return Code(Of(file).disk->Truncate(Of(file).file, size), SQLITE_IOERR_TRUNCATE);
}

int Sync(sqlite3_file* file, int) { return Code(Of(file).disk->Sync(Of(file).file), SQLITE_IOERR_FSYNC); }

int Size(sqlite3_file* file, sqlite3_int64* size) {
  *size = Of(file).disk->Size(Of(file).file);
  return SQLITE_OK;
}

int ShmMap(sqlite3_file* file, int region, int bytes, int extend, void volatile** memory) {
  const PowerLossDisk::FilePointer& of = Of(file).file;
  const auto number = static_cast<size_t>(region);
  const bool exists = number < of->shared.size();
  *memory = exists || extend != 0 ? Of(file).disk->SharedRegion(of, number, static_cast<size_t>(bytes)) : nullptr;
  return SQLITE_OK;
}

int ShmUnmap(sqlite3_file* file, int) {
  // The shared memory has SQLite's index of the log. Without the index, the next connection reads the whole log, as
  // after a restart.
  Of(file).file->shared.clear();
  return SQLITE_OK;
}

constexpr sqlite3_io_methods kMethods = {
    .iVersion = 2,
    .xClose = Close,
    .xRead = Read,
    .xWrite = Write,
    .xTruncate = Truncate,
    .xSync = Sync,
    .xFileSize = Size,
    .xLock = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xUnlock = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xCheckReservedLock =
        [](sqlite3_file*, int* taken) {
          *taken = 0;
          return SQLITE_OK;
        },
    .xFileControl = [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; },
    .xSectorSize = [](sqlite3_file*) { return kSectorBytes; },
    .xDeviceCharacteristics = [](sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; },
    .xShmMap = ShmMap,
    .xShmLock = [](sqlite3_file*, int, int, int) { return SQLITE_OK; },
    .xShmBarrier = [](sqlite3_file*) {},
    .xShmUnmap = ShmUnmap,
};

int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* given_flags) {
  file->pMethods = nullptr;
  PowerLossDisk::FilePointer opened;
  const bool syncs_folder = (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL | SQLITE_OPEN_SUPER_JOURNAL)) != 0;
  const Result result =
      DiskOf(vfs).Open(name == nullptr ? "" : name, (flags & SQLITE_OPEN_CREATE) != 0, syncs_folder, &opened);
  if (result != Result::kDone) return Code(result, SQLITE_CANTOPEN);
  new (file) Handle{{&kMethods}, &DiskOf(vfs), std::move(opened)};
  if (given_flags != nullptr) *given_flags = flags;
  return SQLITE_OK;
}

int Delete(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  const Result result = DiskOf(vfs).Delete(name, sync_folder != 0);
  return result == Result::kMissing ? SQLITE_IOERR_DELETE_NOENT : Code(result, SQLITE_IOERR_DELETE);
}

int Access(sqlite3_vfs* vfs, const char* name, int, int* answer) {
  bool exists = false;
  const Result result = DiskOf(vfs).Exists(name, &exists);
  *answer = exists ? 1 : 0;
  return Code(result, SQLITE_IOERR_ACCESS);
}

int FullPathname(sqlite3_vfs*, const char* name, int size, char* full) {
  sqlite3_snprintf(size, full, "%s", name);
  return SQLITE_OK;
}

}  // namespace

PowerLossVfs::PowerLossVfs(PowerLossDisk* disk)
    : name_(absl::StrCat("power-loss-", reinterpret_cast<uintptr_t>(disk))) {
  const sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
  vfs_.iVersion = 1;
  vfs_.szOsFile = sizeof(Handle);
  vfs_.mxPathname = system->mxPathname;
  vfs_.zName = name_.c_str();
  vfs_.pAppData = disk;
  vfs_.xOpen = Open;
  vfs_.xDelete = Delete;
  vfs_.xAccess = Access;
  vfs_.xFullPathname = FullPathname;
  vfs_.xRandomness = system->xRandomness;
  vfs_.xSleep = system->xSleep;
  vfs_.xCurrentTime = system->xCurrentTime;
  vfs_.xGetLastError = [](sqlite3_vfs*, int, char*) { return 0; };
  sqlite3_vfs_register(&vfs_, 0);
}

PowerLossVfs::~PowerLossVfs() { sqlite3_vfs_unregister(&vfs_); }

}  // namespace rekindle::coordinator
