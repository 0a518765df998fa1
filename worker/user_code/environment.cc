#include "worker/user_code/environment.h"
#include "common/agreed/agreed_limits.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/files/file.h"
#include "common/files/unique_fd.h"
#include "common/process/process.h"

namespace rekindle::user_code {
namespace {

constexpr int64_t kMostBytes = 1 << 20;

// These say where things are, and none is a secret.
constexpr const char* kTaken[] = {"LD_LIBRARY_PATH", "PYTHONPATH", "TZ", "CUDA_VISIBLE_DEVICES"};
// These decide about which program runs, about the bits of results, or about where a node's own things are.
constexpr const char* kNames[] = {"PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "LANG", "CUDA_VISIBLE_DEVICES"};
constexpr const char* kPrefixes[] = {"LD_", "PYTHON", "REKINDLE_", "OMP_", "MKL_", "OPENBLAS_", "ATEN_", "GRPC_"};

absl::StatusOr<std::string> ReadPrivate(const std::string& path) {
  const common::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return common::ErrnoError(absl::StrCat("open ", path));
  struct stat facts = {};
  if (fstat(file.get(), &facts) != 0) return common::ErrnoError(absl::StrCat("stat of ", path));
  if (!S_ISREG(facts.st_mode) || facts.st_uid != geteuid() || (facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat(path, " may be read or written by others: make it a file of the agent's user (chmod 600)"));
  }
  if (facts.st_size > kMostBytes) return absl::InvalidArgumentError(absl::StrCat(path, " is larger than 1 MiB"));
  std::string text(static_cast<size_t>(facts.st_size), '\0');
  const ssize_t got = pread(file.get(), text.data(), text.size(), 0);
  if (got < 0) return common::ErrnoError(absl::StrCat("read ", path));
  text.resize(static_cast<size_t>(got));
  return text;
}

}  // namespace

absl::Status CheckName(const std::string& name) {
  const bool is_name = !name.empty() && name.size() <= common::kLongestVariableName && std::isdigit(name[0]) == 0 &&
                       std::all_of(name.begin(), name.end(),
                                   [](unsigned char c) { return c < 128 && (std::isalnum(c) != 0 || c == '_'); });
  if (!is_name) return absl::InvalidArgumentError("it is no name of a variable: use letters, digits and '_'");
  const bool is_kept = std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
                       std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                                   [&](const char* prefix) { return absl::StartsWith(name, prefix); });
  if (!is_kept) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name,
                                                 " decides about what runs, or about the result, so a job cannot "
                                                 "take it from a node"));
}

absl::StatusOr<NamedValues> ReadValues(const std::string& path, const std::vector<std::string>& names) {
  NamedValues values;
  if (names.empty()) return values;
  const absl::StatusOr<std::string> text = ReadPrivate(path);
  if (absl::IsNotFound(text.status())) {
    return absl::NotFoundError(absl::StrCat("the job takes ", names[0], " from this node, which has no ", path,
                                            ": write it there as NAME=VALUE (chmod 600)"));
  }
  if (!text.ok()) return text.status();
  std::map<std::string, std::string> known;
  const std::vector<std::string> lines = absl::StrSplit(*text, '\n');
  for (const std::string& line : lines) {
    const size_t equals = line.find('=');
    if (line.empty() || line[0] == '#' || equals == std::string::npos) continue;
    known[line.substr(0, equals)] = line.substr(equals + 1);
  }
  for (const std::string& name : names) {
    if (const absl::Status fit = CheckName(name); !fit.ok()) return fit;
    const auto found = known.find(name);
    if (found == known.end()) {
      return absl::NotFoundError(
          absl::StrCat("the job takes ", name, " from this node, and ", path, " has no line ", name, "=VALUE"));
    }
    values.emplace_back(name, found->second);
  }
  return values;
}

std::vector<std::string> CodeEnvironment(const EnvironmentOptions& options) {
  const std::string own_programs = options.interpreter.substr(0, options.interpreter.rfind('/'));
  std::map<std::string, std::string> environment = {
      {"PATH", absl::StrCat(own_programs, ":/usr/local/bin:/usr/bin:/bin")},
      {"HOME", options.home},
      {"TMPDIR", options.scratch},
      {"XDG_CACHE_HOME", absl::StrCat(options.home, "/.cache")},
      // Libraries ask who runs them, and the user id has no account.
      {"USER", "rekindle"},
      {"LOGNAME", "rekindle"},
      {"LANG", "C.UTF-8"},
      // Otherwise Python would draw the order of sets anew at each start.
      {"PYTHONHASHSEED", "0"}};
  for (const std::string& entry : options.own) {
    const size_t equals = entry.find('=');
    const std::string name = entry.substr(0, equals);
    if (equals == std::string::npos || std::find(std::begin(kTaken), std::end(kTaken), name) == std::end(kTaken)) {
      continue;
    }
    environment[name] = entry.substr(equals + 1);
  }
  for (const auto& [name, value] : options.from_node) environment[name] = value;
  for (const auto& [name, value] : options.pinned) environment[name] = value;
  std::vector<std::string> entries;
  for (const auto& [name, value] : environment) entries.push_back(absl::StrCat(name, "=", value));
  return entries;
}

}  // namespace rekindle::user_code
