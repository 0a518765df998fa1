#include "common/rpc/local_token.h"

#include <dirent.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/digest/hash.h"
#include "common/digest/random_bytes.h"
#include "common/files/file.h"
#include "common/files/home_folder.h"
#include "common/files/state_folder.h"

namespace rekindle::common {
namespace {

constexpr size_t kShortestToken = 16;
constexpr size_t kLongestToken = 4096;
constexpr size_t kRandomBytes = 32;
constexpr char kNamePrefix[] = "token-";
// A copy of a token from another machine, boot or network is removed after `kForgottenSeconds`, because nobody here can
// see whether its process still runs.
constexpr time_t kForgottenSeconds = 30 * 24 * 3600;

absl::Status Unfit(const std::string& path, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("--token-file ", path, ": ", why));
}

// Identifies the machine, its boot and one of its networks. A home folder may be on several machines, and each of their
// networks has ports of its own.
const std::string& Place() {
  static const auto* place = [] {
    struct stat network = {};
    (void)stat("/proc/self/ns/net", &network);
    return new std::string(Xxh3_128Hex(absl::StrCat(BootId(), "/", network.st_ino)).substr(0, 8));
  }();
  return *place;
}

std::string NameOf(int port) { return absl::StrCat(kNamePrefix, port, "-", Place()); }

// Opens a folder for copies of tokens if it is no link and belongs to this user. If others may write in the folder, the
// function takes that right from them.
absl::StatusOr<UniqueFd> OpenOwnFolder(const std::string& path) {
  UniqueFd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info = {};
  if (!folder.valid() || fstat(folder.get(), &info) != 0) return ErrnoStatus(errno, "cannot open folder", path);
  if (info.st_uid != geteuid()) return absl::PermissionDeniedError(absl::StrCat(path, " belongs to another user"));
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && fchmod(folder.get(), 0700) != 0) {
    return ErrnoStatus(errno, "cannot take from others the right to write in", path);
  }
  return folder;
}

// Creates a folder for copies of tokens if it does not exist, and closes it to all other users, whatever its mode was.
absl::StatusOr<UniqueFd> MakeOwnFolder(const std::string& path) {
  if (absl::Status parents = CreateFolders(*PosixFileSystem(), DirName(path)); !parents.ok()) return parents;
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return ErrnoStatus(errno, "cannot create folder", path);
  absl::StatusOr<UniqueFd> folder = OpenOwnFolder(path);
  if (folder.ok() && fchmod(folder->get(), 0700) != 0) return ErrnoStatus(errno, "cannot close to others", path);
  return folder;
}

absl::StatusOr<std::string> CheckToken(std::string token, const std::string& path) {
  if (token.size() > kLongestToken) return Unfit(path, "is over 4096 bytes");
  absl::StripAsciiWhitespace(&token);
  if (token.size() < kShortestToken) {
    return Unfit(path, "holds under 16 characters: write a random one, as `openssl rand -hex 32` gives");
  }
  for (const char c : token) {
    if (!absl::ascii_isgraph(static_cast<unsigned char>(c))) return Unfit(path, "must be one line of ASCII");
  }
  return token;
}

absl::StatusOr<std::string> ReadAll(int fd, const std::string& path) {
  std::string text(kLongestToken + 1, '\0');
  const ssize_t got = pread(fd, text.data(), text.size(), 0);
  if (got < 0) return Unfit(path, absl::StrCat("cannot be read: ", std::strerror(errno)));
  text.resize(static_cast<size_t>(got));
  return CheckToken(std::move(text), path);
}

// Reads a token that belongs to this user and that nobody else may read, and returns it with its file's time of
// modification.
absl::StatusOr<std::pair<timespec, std::string>> ReadCopy(const std::string& folder, const std::string& name) {
  const absl::StatusOr<UniqueFd> in = OpenOwnFolder(folder);
  if (!in.ok()) return in.status();
  const std::string path = absl::StrCat(folder, "/", name);
  const UniqueFd file(openat(in->get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info = {};
  if (!file.valid() || fstat(file.get(), &info) != 0) return ErrnoStatus(errno, "cannot open", path);
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 077) != 0) {
    return absl::PermissionDeniedError(absl::StrCat(path, " is not for this user alone"));
  }
  absl::StatusOr<std::string> token = ReadAll(file.get(), path);
  if (!token.ok()) return token.status();
  return std::pair(info.st_mtim, *std::move(token));
}

// Removes the file `name` only if it is the open file `file`, because another process may have put another file there.
void RemoveThat(int folder, const std::string& name, int file) {
  struct stat meant = {}, moved = {};
  const std::string aside = TemporaryName(name);
  if (fstat(file, &meant) != 0 || renameat(folder, name.c_str(), folder, aside.c_str()) != 0) return;
  const bool same = fstatat(folder, aside.c_str(), &moved, AT_SYMLINK_NOFOLLOW) == 0 && moved.st_dev == meant.st_dev &&
                    moved.st_ino == meant.st_ino;
  if (same || renameat2(folder, aside.c_str(), folder, name.c_str(), RENAME_NOREPLACE) != 0) {
    unlinkat(folder, aside.c_str(), 0);
  }
}

// Removes the copies of tokens whose processes are gone. The kernel has freed the locks of these processes.
void RemoveLeftovers(int folder) {
  DIR* entries = fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (entries == nullptr) return;
  const std::string here = absl::StrCat("-", Place());
  while (const dirent* entry = readdir(entries)) {
    const std::string name = entry->d_name;
    if (!absl::StartsWith(name, kNamePrefix)) continue;
    const UniqueFd file(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat info = {};
    if (!file.valid() || fstat(file.get(), &info) != 0) continue;
    // If the copy is of another machine, its lock may not be visible here, so only the age of the copy decides.
    if (!absl::EndsWith(name, here) && time(nullptr) - info.st_mtime < kForgottenSeconds) continue;
    if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) RemoveThat(folder, name, file.get());
  }
  closedir(entries);
}

}  // namespace

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return Unfit(path, absl::StrCat("cannot be read: ", std::strerror(errno)));
  return ReadAll(file.get(), path);
}

bool SameSecret(std::string_view given, std::string_view expected) {
  return given.size() == expected.size() && CRYPTO_memcmp(given.data(), expected.data(), expected.size()) == 0;
}

absl::Status MakeTokenFile(const std::string& path) {
  struct stat info = {};
  if (lstat(path.c_str(), &info) == 0) {
    // Whoever created the token file knows the token, so only this user or root may own the file.
    if (!S_ISREG(info.st_mode) || (info.st_uid != geteuid() && info.st_uid != 0)) {
      return Unfit(path, "is no file of this user's: remove it, and a new one is made");
    }
    return ReadToken(path).status();
  }
  const std::string token = absl::StrCat("u", geteuid(), "-", absl::BytesToHexString(RandomBytes(kRandomBytes)), "\n");
  return WriteFileAtomic(*PosixFileSystem(), path, token);
}

std::optional<uid_t> OwnerNamedBy(const std::string& token) {
  const size_t dash = token.find('-');
  uid_t owner = 0;
  const bool made_here = absl::StartsWith(token, "u") && dash != std::string::npos &&
                         token.size() == dash + 1 + 2 * kRandomBytes &&
                         absl::SimpleAtoi(token.substr(1, dash - 1), &owner);
  return made_here ? std::optional(owner) : std::nullopt;
}

std::vector<std::string> TokenFolders() {
  std::vector<std::string> folders;
  const char* given = std::getenv("XDG_RUNTIME_DIR");
  const std::string usual = absl::StrCat("/run/user/", geteuid());
  if (given != nullptr && *given == '/') {
    folders.push_back(absl::StrCat(given, "/rekindle"));
  } else if (access(usual.c_str(), X_OK) == 0) {
    folders.push_back(absl::StrCat(usual, "/rekindle"));
  }
  if (const std::string home = HomeFolder(); !home.empty()) {
    folders.push_back(absl::StrCat(home, "/.local/state/rekindle"));
  }
  return folders;
}

absl::StatusOr<PublishedToken> PublishedToken::Publish(int port, const std::string& token) {
  PublishedToken published(NameOf(port));
  absl::Status why = absl::UnavailableError("neither XDG_RUNTIME_DIR nor HOME names a folder of this user");
  for (const std::string& folder : TokenFolders()) {
    if (absl::Status status = published.PublishIn(folder, token); !status.ok()) why = std::move(status);
  }
  if (!published.copies_.empty()) return published;
  return absl::UnavailableError(why.message());
}

absl::Status PublishedToken::PublishIn(const std::string& folder, const std::string& token) {
  absl::StatusOr<UniqueFd> in = MakeOwnFolder(folder);
  if (!in.ok()) return in.status();
  if (absl::Status marked = MarkStateFolder(folder); !marked.ok()) return marked;
  RemoveLeftovers(in->get());
  const std::string unfinished = TemporaryName(name_);
  UniqueFd file(openat(in->get(), unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  const std::string path = absl::StrCat(folder, "/", unfinished);
  if (!file.valid()) return ErrnoStatus(errno, "cannot create", path);
  const std::string line = absl::StrCat(token, "\n");
  // Not every file system has locks. Where there are none, the copy of a killed process stays until a token is
  // published for the same port.
  (void)flock(file.get(), LOCK_EX | LOCK_NB);
  const bool written = write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
                       renameat(in->get(), unfinished.c_str(), in->get(), name_.c_str()) == 0;
  if (!written) {
    const int cause = errno;
    unlinkat(in->get(), unfinished.c_str(), 0);
    return ErrnoStatus(cause, "cannot write", path);
  }
  copies_.push_back({*std::move(in), std::move(file)});
  return absl::OkStatus();
}

PublishedToken::~PublishedToken() {
  for (const Copy& copy : copies_) RemoveThat(copy.folder.get(), name_, copy.file.get());
}

absl::StatusOr<std::string> FindToken(int port) {
  const std::string name = NameOf(port);
  std::optional<std::pair<timespec, std::string>> newest;
  for (const std::string& folder : TokenFolders()) {
    absl::StatusOr<std::pair<timespec, std::string>> copy = ReadCopy(folder, name);
    if (!copy.ok()) continue;
    const bool newer = !newest || copy->first.tv_sec > newest->first.tv_sec ||
                       (copy->first.tv_sec == newest->first.tv_sec && copy->first.tv_nsec > newest->first.tv_nsec);
    if (newer) newest = *std::move(copy);
  }
  if (newest) return newest->second;
  return absl::NotFoundError(absl::StrCat("no token for port ", port, " is in the folders of this user"));
}

}  // namespace rekindle::common
