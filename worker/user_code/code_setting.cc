#include "worker/user_code/code_setting.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/process/command.h"
#include "common/process/process.h"
#include "common/text/printable.h"

namespace rekindle::user_code {
namespace {

constexpr uint64_t kThreadsOfAll = 512;
constexpr uint64_t kThreadsPerCore = 16;
constexpr uint64_t kMostThreads = 8192;
constexpr int kMostLinks = 8;
// An interpreter on a disk that is busy takes long to start, and that must not make code run without isolation.
constexpr double kProbeSeconds = 60;

// A job's code may read these paths, because any program needs them. Those below /etc tell names, hosts, certificates
// and where libraries are, and hold no secret.
constexpr const char* kSystem[] = {"/usr",
                                   "/bin",
                                   "/sbin",
                                   "/lib",
                                   "/lib32",
                                   "/lib64",
                                   "/proc",
                                   "/sys/devices",
                                   "/sys/fs/cgroup",
                                   "/sys/kernel/mm",
                                   "/sys/bus/pci",
                                   "/etc/alternatives",
                                   "/etc/ld.so.cache",
                                   "/etc/ld.so.conf",
                                   "/etc/ld.so.conf.d",
                                   "/etc/passwd",
                                   "/etc/group",
                                   "/etc/hosts",
                                   "/etc/host.conf",
                                   "/etc/hostname",
                                   "/etc/resolv.conf",
                                   "/etc/nsswitch.conf",
                                   "/etc/gai.conf",
                                   "/etc/services",
                                   "/etc/protocols",
                                   "/etc/localtime",
                                   "/etc/timezone",
                                   "/etc/ssl",
                                   "/etc/pki",
                                   "/etc/ca-certificates",
                                   "/etc/mime.types",
                                   "/etc/fonts",
                                   "/dev/urandom",
                                   "/dev/random"};
constexpr const char* kDevices[] = {"/dev/null", "/dev/zero", "/dev/full"};
// Locks and queues of processes are files here. What a job leaves here counts as its own (disk_use.h).
constexpr char kSharedMemory[] = "/dev/shm";

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Returns the value of `name` in an environment, or an empty text.
std::string ValueOf(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& entry : environment) {
    if (absl::StartsWith(entry, name + "=")) return entry.substr(name.size() + 1);
  }
  return "";
}

// Returns the folders that a variable of an environment lists, such as PYTHONPATH.
std::vector<std::string> FoldersIn(const std::vector<std::string>& environment, const std::string& name) {
  std::vector<std::string> folders = absl::StrSplit(ValueOf(environment, name), ':');
  std::erase_if(folders, [](const std::string& each) { return !absl::StartsWith(each, "/") || each == "/"; });
  return folders;
}

// Returns where the package rekindle is, or an empty text if that is with the interpreter.
std::string PackageIn(const std::vector<std::string>& environment) {
  for (const std::string& folder : FoldersIn(environment, "PYTHONPATH")) {
    if (access((folder + "/rekindle/__init__.py").c_str(), F_OK) == 0) return folder + "/rekindle";
  }
  return "";
}

void AddProgram(const std::string& program, std::vector<std::string>& folders) {
  const std::string prefix = FolderOf(FolderOf(program));
  if (prefix.empty()) return;
  for (const char* part : {"/bin", "/lib", "/lib64", "/include", "/share", "/libexec", "/pyvenv.cfg"}) {
    folders.push_back(prefix + part);
  }
}

// Returns the folder of the interpreter that has made a virtual environment, or an empty text.
std::string HomeIn(const std::string& file) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits('=', 1));
    if (parts.size() != 2 || !absl::StartsWith(parts[0], "home")) continue;
    return parts[1].substr(std::min(parts[1].find_first_not_of(' '), parts[1].size()));
  }
  return "";
}

Limits LimitsOf(const CodeSetting& setting) {
  Limits limits;
  const auto cores = static_cast<uint64_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  limits.processes = std::min(kMostThreads, kThreadsOfAll + kThreadsPerCore * cores);
  if (setting.memory_bytes > 0) {
    limits.memory_bytes = static_cast<uint64_t>(std::max(setting.memory_bytes, kLeastMemory));
  }
  return limits;
}

// Runs the interpreter, or a shell if there is none, as code of users would run.
absl::Status TryConfined(const CodeSetting& setting) {
  if (absl::Status made = MakeCodeFolder(setting); !made.ok()) return made;
  const std::vector<std::string> own = common::OwnEnvironment();
  const auto confinement = Confine(setting, own);
  if (!confinement.ok()) return confinement.status();
  const bool has_python = !setting.interpreter.empty();
  const auto ran = common::RunToEnd({.argv = {has_python ? setting.interpreter : "/bin/sh", "-c",
                                              // Python finds its standard library before it runs anything.
                                              has_python ? "import json" : ":"},
                                     .environment = EnvironmentOf(setting, own, {}, {}),
                                     .limit_seconds = kProbeSeconds,
                                     .confine = [&](common::SpawnOptions* spawn) { (*confinement)->AddTo(spawn); }});
  if (!ran.ok()) return ran.status();
  if (ran->status.code == 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("code of users cannot run under a user id of its own: ",
                                             ran->status.ToString(), " ", common::Printable(ran->output)));
}

}  // namespace

std::string NameOf(Isolation isolation) {
  switch (isolation) {
    case Isolation::kNone:
      return "none";
    case Isolation::kUid:
      return "uid";
    case Isolation::kUidAndLandlock:
      return "uid+landlock";
  }
  return "";
}

std::optional<Isolation> IsolationOf(const std::string& name) {
  for (const Isolation isolation : {Isolation::kNone, Isolation::kUid, Isolation::kUidAndLandlock}) {
    if (NameOf(isolation) == name) return isolation;
  }
  return std::nullopt;
}

std::vector<std::string> InterpreterFolders(const std::string& interpreter) {
  std::vector<std::string> folders;
  std::string program = interpreter;
  for (int i = 0; i < kMostLinks; ++i) {
    AddProgram(program, folders);
    const std::string home = HomeIn(FolderOf(FolderOf(program)) + "/pyvenv.cfg");
    if (!home.empty()) AddProgram(home + "/python", folders);
    // A virtual environment has a link to the program, which may be one itself.
    std::error_code error;
    const std::filesystem::path next = std::filesystem::read_symlink(program, error);
    if (error) break;
    program = (std::filesystem::path(FolderOf(program)) / next).lexically_normal().string();
  }
  std::sort(folders.begin(), folders.end());
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  return folders;
}

FileRules RulesOf(const CodeSetting& setting, const std::vector<std::string>& own_environment) {
  FileRules rules;
  rules.readable.assign(std::begin(kSystem), std::end(kSystem));
  rules.programs = InterpreterFolders(setting.interpreter);
  // The agent's user says where the package rekindle is.
  for (const char* name : {"PYTHONPATH", "LD_LIBRARY_PATH"}) {
    for (std::string& folder : FoldersIn(own_environment, name)) rules.readable.push_back(std::move(folder));
  }
  rules.readable.insert(rules.readable.end(), setting.data_roots.begin(), setting.data_roots.end());
  if (!setting.task_folder.empty()) rules.readable.push_back(setting.task_folder);
  rules.readable.push_back(BundleOf(setting.folder));
  rules.writable = {ScratchOf(setting.folder), kSharedMemory};
  rules.fillable.assign(std::begin(kDevices), std::end(kDevices));
  rules.fillable.push_back(FaultsOf(setting.folder));
  return rules;
}

absl::StatusOr<std::shared_ptr<const Confinement>> Confine(const CodeSetting& setting,
                                                           const std::vector<std::string>& own_environment) {
  if (setting.isolation == Isolation::kNone) return std::shared_ptr<const Confinement>();
  std::vector<std::string> needed = {ScratchOf(setting.folder)};
  // Python passes over a package that it may not read, and would then say that there is none.
  for (const std::string& path : {setting.interpreter, setting.task_folder, PackageIn(own_environment)}) {
    if (!path.empty()) needed.push_back(path);
  }
  if (const absl::Status reached = CheckReach(setting.uid, needed); !reached.ok()) return reached;
  absl::StatusOr<Confinement> confinement =
      Confinement::Prepare({.uid = setting.uid,
                            .folder = ScratchOf(setting.folder),
                            .has_landlock = setting.isolation == Isolation::kUidAndLandlock,
                            .rules = RulesOf(setting, own_environment),
                            .limits = LimitsOf(setting)});
  if (!confinement.ok()) return confinement.status();
  return std::make_shared<const Confinement>(*std::move(confinement));
}

std::vector<std::string> EnvironmentOf(const CodeSetting& setting, const std::vector<std::string>& own,
                                       const NamedValues& pinned, const NamedValues& from_node) {
  const std::string scratch = ScratchOf(setting.folder);
  // Code that runs as the agent's user finds its caches where that user has them.
  const std::string home = setting.isolation == Isolation::kNone ? ValueOf(own, "HOME") : "";
  return CodeEnvironment({.interpreter = setting.interpreter,
                          .home = home.empty() ? scratch : home,
                          .scratch = scratch,
                          .own = own,
                          .pinned = pinned,
                          .from_node = from_node});
}

Isolation ProbeIsolation(const std::string& root, const UidRange& uids, const std::string& interpreter,
                         std::string* why, Isolation at_most, const UidPlaces& places) {
  CodeSetting setting{.folder = absl::StrCat(root, "/", kProbe, getpid()), .interpreter = interpreter};
  if (geteuid() != 0) {
    *why = "only an agent that runs as root can give code of users a user id of its own";
    return Isolation::kNone;
  }
  // The folder holds the id while it exists.
  absl::StatusOr<uid_t> uid = mkdir(setting.folder.c_str(), 0700) == 0 || errno == EEXIST
                                  ? TakeUid(uids, setting.folder, setting.folder, places)
                                  : common::ErrnoError(absl::StrCat("make the folder ", setting.folder));
  if (!uid.ok()) {
    *why = std::string(uid.status().message());
    RemoveCodeFolder(setting.folder);
    return Isolation::kNone;
  }
  setting.uid = *uid;
  Isolation found = Isolation::kNone;
  for (const Isolation isolation : {Isolation::kUidAndLandlock, Isolation::kUid}) {
    if (isolation > at_most) continue;
    setting.isolation = isolation;
    const absl::Status works = TryConfined(setting);
    if (works.ok()) {
      found = isolation;
      break;
    }
    *why = std::string(works.message());
  }
  RemoveCodeFolder(setting.folder);
  return found;
}

}  // namespace rekindle::user_code
