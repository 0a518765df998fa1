#include "worker/agent/folder/node_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/digest/random_bytes.h"
#include "common/files/state_folder.h"
#include "common/log/log.h"
#include "common/net/unix_path.h"
#include "common/time/clock.h"
#include "worker/agent/folder/small_file.h"

namespace rekindle::agent {
namespace {

constexpr double kLockRetrySeconds = 0.01;
constexpr size_t kIncarnationBytes = 16;
constexpr size_t kMaxClusterBytes = 256;

absl::Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return absl::OkStatus();
  return common::ErrnoError(absl::StrCat("make the folder ", path));
}

absl::StatusOr<common::UniqueFd> Lock(const std::string& path, double wait_seconds) {
  common::UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.valid()) return common::ErrnoError(absl::StrCat("open ", path));
  const double give_up = common::SteadySeconds() + wait_seconds;
  while (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return common::ErrnoError(absl::StrCat("lock ", path));
    if (common::SteadySeconds() >= give_up) {
      return absl::AlreadyExistsError(
          absl::StrCat(path, " is held by another agent: stop it, or give this one a folder of its own (--dir)"));
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(kLockRetrySeconds));
  }
  return fd;
}

// node.json is not synced. A power cut that loses the file also ends all processes of the node, so it does no harm that
// the node then joins as a new one.
absl::StatusOr<std::string> ReadOrMakeIncarnation(const std::string& path) {
  const absl::StatusOr<std::string> content = ReadSmallFile(path, 4096);
  if (content.ok()) {
    const nlohmann::json node = nlohmann::json::parse(*content, nullptr, /*allow_exceptions=*/false);
    if (node.is_object() && node.contains("incarnation") && node["incarnation"].is_string()) {
      return node["incarnation"].get<std::string>();
    }
    log::Warning("damaged: the node joins as a new one", {{"file", path}});
  } else if (!absl::IsNotFound(content.status())) {
    return content.status();
  }
  const std::string incarnation = RandomHex(kIncarnationBytes);
  const nlohmann::json node = {{"incarnation", incarnation}};
  const absl::Status written = ReplaceFile(path, node.dump() + "\n");
  if (!written.ok()) return written;
  return incarnation;
}

std::string HomeOf(int lock) {
  const absl::StatusOr<std::string> boot = ReadSmallFile("/proc/sys/kernel/random/boot_id", 4096);
  struct stat info = {};
  if (!boot.ok() || fstat(lock, &info) != 0) return "";
  return absl::StrCat(absl::StripAsciiWhitespace(*boot), "/", info.st_dev, "/", info.st_ino);
}

}  // namespace

std::string RandomHex(int bytes) { return absl::BytesToHexString(common::RandomBytes(static_cast<size_t>(bytes))); }

absl::StatusOr<NodeFolder> NodeFolder::Open(const std::string& dir, double lock_wait_seconds) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  char resolved[PATH_MAX];
  if (error || realpath(dir.c_str(), resolved) == nullptr) {
    return absl::InternalError(
        absl::StrCat("cannot make the folder ", dir, ": ", error ? error.message() : std::string("no such folder")));
  }
  NodeFolder folder;
  folder.dir_ = resolved;
  const size_t longest = common::kLongestUnixPath - common::kLongestNodeSocket.size();
  if (folder.dir_.size() > longest) {
    return absl::InvalidArgumentError(absl::StrCat("the path ", folder.dir_, " has ", folder.dir_.size(),
                                                   " bytes; Unix sockets allow ", longest, ": use a shorter --dir"));
  }
  if (chmod(resolved, 0700) != 0) return common::ErrnoError(absl::StrCat("chmod of ", folder.dir_));
  if (const absl::Status marked = common::MarkStateFolder(folder.dir_); !marked.ok()) {
    log::Warning("jobs may read this node's state", {{"why", std::string(marked.message())}});
  }
  absl::StatusOr<common::UniqueFd> lock = Lock(folder.dir_ + "/agent.lock", lock_wait_seconds);
  if (!lock.ok()) return lock.status();
  folder.lock_ = *std::move(lock);
  folder.home_ = HomeOf(folder.lock_.get());
  for (const char* name : {"/jobs", "/trainers", "/alive", "/last_words", "/ended", "/exits", "/logs", "/warm"}) {
    const absl::Status made = MakeFolder(folder.dir_ + name);
    if (!made.ok()) return made;
  }
  absl::StatusOr<std::string> incarnation = ReadOrMakeIncarnation(folder.dir_ + "/node.json");
  if (!incarnation.ok()) return incarnation.status();
  folder.incarnation_ = *std::move(incarnation);
  return folder;
}

absl::StatusOr<common::KnownCluster> NodeFolder::ReadCluster() const {
  const absl::StatusOr<std::string> text = ReadSmallFile(ClusterFile(), kMaxClusterBytes);
  if (absl::IsNotFound(text.status())) return common::KnownCluster();
  // A power cut can leave the file `cluster` empty. It has also ended all trainers, so the node may obey any cluster.
  if (text.ok() && text->empty()) return common::KnownCluster();
  const auto identity =
      text.ok() ? common::ParseClusterIdentity(std::string(absl::StripAsciiWhitespace(*text))) : text.status();
  if (identity.ok()) return common::KnownCluster(*identity);
  return absl::DataLossError(
      absl::StrCat(ClusterFile(), ": ", std::string(identity.status().message()),
                   "; where the node belongs to no cluster: rekindle-worker forget-cluster --dir ", dir_));
}

std::string NodeFolder::JobFile(const std::string& job_uid, int slot) const {
  return absl::StrCat(dir_, "/jobs/", job_uid, "/", slot, ".pb");
}

std::string NodeFolder::RecordFile(int slot) const { return absl::StrCat(RecordFolder(), "/", slot, ".json"); }

std::string NodeFolder::LogFile(const std::string& job_name, int slot, const std::string& incarnation) const {
  return absl::StrCat(LogFolder(), "/", job_name, "-", slot, "-", incarnation, ".log");
}

absl::Status NodeFolder::MakeJobFolder(const std::string& job_uid) const {
  return MakeFolder(absl::StrCat(dir_, "/jobs/", job_uid));
}

void NodeFolder::RemoveJobFile(const std::string& job_uid, int slot) const {
  RemoveFile(JobFile(job_uid, slot));
  rmdir(absl::StrCat(dir_, "/jobs/", job_uid).c_str());
}

}  // namespace rekindle::agent
