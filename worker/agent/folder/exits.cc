#include "worker/agent/folder/exits.h"

#include <sys/stat.h>

#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "worker/agent/folder/small_file.h"

namespace rekindle::agent {
namespace {

std::string FileName(const common::ProcessIdentity& process) {
  return absl::StrCat(process.pid, "-", process.start_time_ticks);
}

std::string ExitPath(const std::string& dir, const common::ProcessIdentity& process) {
  return absl::StrCat(dir, "/exits/", FileName(process));
}

}  // namespace

absl::Status RecordExit(const std::string& dir, const common::ProcessIdentity& process, common::ExitStatus status) {
  mkdir(absl::StrCat(dir, "/exits").c_str(), 0700);
  return ReplaceFile(ExitPath(dir, process), absl::StrCat(status.code, "\n"));
}

std::optional<common::ExitStatus> TakeExit(const std::string& dir, const common::ProcessIdentity& process) {
  const std::string path = ExitPath(dir, process);
  const absl::StatusOr<std::string> content = ReadSmallFile(path, 64);
  if (!content.ok()) return std::nullopt;
  RemoveFile(path);
  common::ExitStatus status;
  if (!absl::SimpleAtoi(*content, &status.code)) return std::nullopt;
  return status;
}

void ClearExits(const std::string& dir, const std::vector<common::ProcessIdentity>& watched) {
  std::set<std::string> keep;
  for (const common::ProcessIdentity& process : watched) keep.insert(FileName(process));
  const std::string folder = absl::StrCat(dir, "/exits");
  for (const std::string& name : ListFolder(folder)) {
    if (!keep.contains(name)) RemoveFile(absl::StrCat(folder, "/", name));
  }
}

}  // namespace rekindle::agent
