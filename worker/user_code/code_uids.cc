#include "worker/user_code/code_uids.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/digest/hash.h"
#include "common/process/process.h"
#include "worker/user_code/confinement.h"

namespace rekindle::user_code {
namespace {

constexpr size_t kLongestOwner = 4096;

std::vector<std::string> LinesOf(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Returns the name of the first entry of a file such as /etc/passwd whose id is in the range, or an empty text.
std::string AccountIn(const std::string& path, const UidRange& range) {
  for (const std::string& line : LinesOf(path)) {
    const std::vector<std::string> fields = absl::StrSplit(line, ':');
    uint32_t id = 0;
    if (fields.size() < 3 || !absl::SimpleAtoi(fields[2], &id)) continue;
    if (id >= range.first && id <= range.last) return fields[0];
  }
  return "";
}

// Returns the name of the first entry of a file such as /etc/subuid whose range meets this one, or an empty text.
std::string ContainersIn(const std::string& path, const UidRange& range) {
  for (const std::string& line : LinesOf(path)) {
    const std::vector<std::string> fields = absl::StrSplit(line, ':');
    uint64_t first = 0, count = 0;
    if (fields.size() < 3 || !absl::SimpleAtoi(fields[1], &first) || !absl::SimpleAtoi(fields[2], &count)) continue;
    if (count > 0 && first <= range.last && first + count > range.first) return fields[0];
  }
  return "";
}

// Returns whether all ids of the range exist in this process's user namespace. `path` is that of its uid_map.
bool IsMapped(const std::string& path, const UidRange& range) {
  for (const std::string& line : LinesOf(path)) {
    std::istringstream fields(line);
    uint64_t first = 0, outside = 0, count = 0;
    if (fields >> first >> outside >> count && first <= range.first && first + count > range.last) return true;
  }
  return false;
}

// Returns the ids of the range that processes have.
std::set<uid_t> Running(const std::string& proc, const UidRange& range) {
  std::set<uid_t> ids;
  DIR* folder = opendir(proc.c_str());
  if (folder == nullptr) return ids;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    for (const std::string& line : LinesOf(absl::StrCat(proc, "/", entry->d_name, "/status"))) {
      std::istringstream fields(line);
      std::string name;
      if (!(fields >> name) || name != "Uid:") continue;
      // The ids are the real, the effective, the saved one, and that for files.
      for (uid_t id = 0; fields >> id;) {
        if (id >= range.first && id <= range.last) ids.insert(id);
      }
    }
  }
  closedir(folder);
  return ids;
}

// Takes the id in the file `path` unless another folder that exists has it.
absl::StatusOr<bool> Claim(const std::string& path, const std::string& owner) {
  const common::UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return common::ErrnoError(absl::StrCat("open ", path));
  // Who holds the lock only reads and writes a line.
  if (flock(file.get(), LOCK_EX) != 0) return common::ErrnoError(absl::StrCat("lock ", path));
  std::string holder(kLongestOwner, '\0');
  const ssize_t got = pread(file.get(), holder.data(), holder.size(), 0);
  if (got < 0) return common::ErrnoError(absl::StrCat("read ", path));
  holder.resize(static_cast<size_t>(got));
  if (!holder.empty() && holder != owner && access(holder.c_str(), F_OK) == 0) return false;
  if (ftruncate(file.get(), 0) != 0 ||
      pwrite(file.get(), owner.data(), owner.size(), 0) != static_cast<ssize_t>(owner.size())) {
    return common::ErrnoError(absl::StrCat("write ", path));
  }
  return true;
}

}  // namespace

absl::StatusOr<UidRange> ParseUidRange(const std::string& text) {
  const std::vector<std::string> ends = absl::StrSplit(text, '-');
  UidRange range;
  const bool is_range = ends.size() == 2 && absl::SimpleAtoi(ends[0], &range.first) &&
                        absl::SimpleAtoi(ends[1], &range.last) && range.first <= range.last;
  if (is_range && range.first >= kLeastUid && range.last < static_cast<uid_t>(-2)) return range;
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is no range of user ids for code of users: write ",
                                                 UidRange().first, "-", UidRange().last, " or another one from ",
                                                 kLeastUid, " to ", static_cast<uid_t>(-3)));
}

absl::Status CheckUidRange(const UidRange& range, const UidPlaces& places) {
  const std::string ids = absl::StrCat("the user ids ", range.first, "-", range.last, " for code of users ");
  for (const char* map : {"/self/uid_map", "/self/gid_map"}) {
    if (!IsMapped(places.proc + map, range)) {
      return absl::FailedPreconditionError(absl::StrCat(ids, "do not exist in this container (", places.proc, map,
                                                        "): start it without a user namespace of its own"));
    }
  }
  for (const char* file : {"/passwd", "/group"}) {
    const std::string account = AccountIn(places.etc + file, range);
    if (!account.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(ids, "include that of ", account, " in ", places.etc, file,
                                                        ": choose others (--code-uids FIRST-LAST)"));
    }
  }
  for (const char* file : {"/subuid", "/subgid"}) {
    const std::string user = ContainersIn(places.etc + file, range);
    if (!user.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(ids, "meet those of ", user, " in ", places.etc, file,
                                                        ": choose others (--code-uids FIRST-LAST)"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<uid_t> TakeUid(const UidRange& range, const std::string& name, const std::string& owner,
                              const UidPlaces& places) {
  if (mkdir(places.claims.c_str(), 0700) != 0 && errno != EEXIST) {
    return common::ErrnoError(absl::StrCat("make the folder ", places.claims));
  }
  const std::set<uid_t> running = Running(places.proc, range);
  const uint64_t count = uint64_t{range.last} - range.first + 1;
  uint64_t begin = 0;
  if (!absl::SimpleHexAtoi(common::Xxh3_128Hex(name).substr(0, 8), &begin)) begin = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const auto uid = static_cast<uid_t>(range.first + (begin + i) % count);
    if (running.contains(uid)) continue;
    const absl::StatusOr<bool> is_ours = Claim(absl::StrCat(places.claims, "/", uid), owner);
    if (!is_ours.ok()) return is_ours.status();
    if (*is_ours) return uid;
  }
  return absl::ResourceExhaustedError(absl::StrCat("all user ids for code of users, ", range.first, "-", range.last,
                                                   ", are taken: choose more (--code-uids FIRST-LAST)"));
}

}  // namespace rekindle::user_code
