#include "cli/submit/script.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/text/safe_text.h"
#include "common/process/command.h"

namespace rekindle::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kVariable[] = "REKINDLE_DESCRIBE=";
constexpr double kLimitSeconds = 600;
constexpr size_t kMaxOutputBytes = 64 << 20;

// Removes a folder at the end.
class Scratch {
 public:
  Scratch() : path_((fs::temp_directory_path() / "rekindle-submit-XXXXXX").string()) {
    is_made_ = mkdtemp(path_.data()) != nullptr;
  }
  ~Scratch() {
    std::error_code ignored;
    if (is_made_) fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;

  bool is_made() const { return is_made_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool is_made_ = false;
};

}  // namespace

bool IsScript(const std::string& path) { return absl::EndsWith(path, ".py"); }

std::string FolderOfScript(const std::string& path) {
  return fs::absolute(path).lexically_normal().parent_path().string();
}

absl::StatusOr<std::string> FindPython(const std::string& python) {
  if (absl::StrContains(python, "/")) return fs::absolute(python).string();
  const char* path = std::getenv("PATH");
  const std::vector<std::string> folders = absl::StrSplit(path == nullptr ? "" : path, ':');
  for (const std::string& folder : folders) {
    std::string program = absl::StrCat(folder, "/", python);
    if (!folder.empty() && access(program.c_str(), X_OK) == 0) return program;
  }
  return absl::InvalidArgumentError(absl::StrCat("there is no ", python, " in the PATH: name one by --python PATH"));
}

absl::StatusOr<JobDocuments> DescribeScript(const std::string& path, const std::string& python,
                                            const std::vector<Override>& overrides) {
  if (access(path.c_str(), R_OK) != 0) return absl::NotFoundError(absl::StrCat(path, " cannot be read"));
  const absl::StatusOr<std::string> program = FindPython(python);
  if (!program.ok()) return program.status();
  const Scratch scratch;
  if (!scratch.is_made()) return absl::InternalError(absl::StrCat("cannot make the folder ", scratch.path()));
  const std::string described = absl::StrCat(scratch.path(), "/job.json");
  common::CommandOptions command{.argv = {*program, path},
                                 .environment = common::OwnEnvironment(),
                                 .limit_seconds = kLimitSeconds,
                                 .max_bytes = kMaxOutputBytes,
                                 .keep_stderr = true};
  command.environment.push_back(kVariable + described);
  const absl::StatusOr<common::CommandResult> ran = common::RunToEnd(command);
  if (!ran.ok()) return ran.status();
  // What the script writes is not what the verb writes.
  std::cerr << ran->output;
  if (ran->status.code != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " has failed before it described its job (", ran->status.ToString(), "): see what it said"));
  }
  if (!fs::exists(described)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path,
                     " ended without a call of rekindle.run, which describes the job: put one below if __name__ == "
                     "\"__main__\":"));
  }
  absl::StatusOr<JobDocuments> file = ReadJobDocuments(described, overrides);
  if (file.ok()) file->source = path;
  return file;
}

}  // namespace rekindle::cli
