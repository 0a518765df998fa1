#include "worker/agent/trainers/trainer_launch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/agreed/allow_code.h"
#include "common/log/log.h"
#include "common/process/command.h"
#include "worker/agent/folder/small_file.h"
#include "worker/numeric/pinned_environment.h"

namespace rekindle::agent {
namespace {

constexpr int kIncarnationBytes = 4;
constexpr int kMaxThreads = 1024;
constexpr size_t kLongestName = 128;

bool PassesOn(const std::string& name) {
  static constexpr const char* kNames[] = {"PATH",
                                           "HOME",
                                           "USER",
                                           "LANG",
                                           "LC_ALL",
                                           "TZ",
                                           "TERM",
                                           "TMPDIR",
                                           "LD_LIBRARY_PATH",
                                           "XDG_CACHE_HOME",
                                           "XDG_RUNTIME_DIR",
                                           "PYTHONPATH"};
  static constexpr const char* kPrefixes[] = {"REKINDLE_", "CUDA_", "NVIDIA_", "NCCL_", "GRPC_"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](const char* n) { return name == n; }) ||
         std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](const char* prefix) { return absl::StartsWith(name, prefix); }) ||
         absl::EndsWith(name, "SAN_OPTIONS");
}

absl::StatusOr<common::UniqueFd> MakeLog(const std::string& path) {
  common::UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return common::ErrnoError(absl::StrCat("make ", path));
  return fd;
}

// Returns OK, or that the program for the job's trainers is not on this node.
absl::Status CheckProgram(const v1::DesiredTrainer& desired, const std::string& program) {
  if (access(program.c_str(), X_OK) == 0) return absl::OkStatus();
  const bool is_own = !desired.spec().model().python().empty();
  return absl::FailedPreconditionError(
      absl::StrCat(program, ", which runs the trainers of job ", desired.job_name(), ", is no executable file here",
                   is_own ? ": install it beside rekindle-worker"
                          : ". The Python package runs only models of users' own (model.python): install Rekindle's "
                            "programs on this node, or name the trainer's by --trainer-binary"));
}

constexpr size_t kMaxJobFileBytes = 4 << 20;

absl::Status WriteJobFile(const NodeFolder& folder, const v1::DesiredTrainer& desired) {
  const absl::Status made = folder.MakeJobFolder(desired.job_uid());
  if (!made.ok()) return made;
  return ReplaceFile(folder.JobFile(desired.job_uid(), desired.slot()), desired.SerializeAsString());
}

// Returns the trainer's command line, without the arguments for a job's own code.
std::vector<std::string> Command(const LaunchOptions& options, const NodeFolder& folder,
                                 const v1::DesiredTrainer& desired, const SlotDevice& device,
                                 const std::string& trainer) {
  const bool is_own = !desired.spec().model().python().empty();
  std::vector<std::string> argv = {is_own ? options.own_trainer_binary : options.trainer_binary,
                                   "--job-file",
                                   folder.JobFile(desired.job_uid(), desired.slot()),
                                   "--dir",
                                   folder.dir(),
                                   "--coordinator",
                                   options.coordinator,
                                   "--node",
                                   options.node,
                                   "--trainer",
                                   trainer,
                                   "--listen",
                                   options.advertise,
                                   "--device",
                                   device.kind,
                                   "--device-memory",
                                   absl::StrCat(static_cast<int64_t>(device.memory_bytes)),
                                   "--memory",
                                   absl::StrCat(static_cast<int64_t>(options.memory_bytes))};
  if (!options.python.empty()) argv.insert(argv.end(), {"--python", options.python});
  for (const std::string& root : options.data_roots) argv.insert(argv.end(), {"--data-root", root});
  return argv;
}

}  // namespace

absl::Status CheckDesired(const v1::DesiredTrainer& desired, int slots, const std::string& allow_code) {
  if (!IsSafeName(desired.job_uid(), kLongestName) || !IsSafeName(desired.job_name(), kLongestName)) {
    return absl::InvalidArgumentError("the job's name or uid is not fit to name a file");
  }
  if (desired.slot() < 0 || desired.slot() >= slots) {
    return absl::InvalidArgumentError(absl::StrCat("slot ", desired.slot(), " of ", slots, " does not exist"));
  }
  if (!desired.spec().model().python().empty() && !common::AllowsCode(allow_code)) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", desired.job_name(),
                     " brings code of its own, and this node runs none: start rekindle-worker with --allow-code on"));
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::DesiredTrainer> ReadJobFile(const NodeFolder& folder, const std::string& job_uid, int slot) {
  const std::string path = folder.JobFile(job_uid, slot);
  const absl::StatusOr<std::string> content = ReadSmallFile(path, kMaxJobFileBytes);
  if (!content.ok()) return content.status();
  v1::DesiredTrainer desired;
  if (desired.ParseFromString(*content) && desired.job_uid() == job_uid) return desired;
  return absl::DataLossError(absl::StrCat(path, " is no job file of job ", job_uid));
}

std::vector<std::string> TrainerEnvironment(const v1::JobSpec& spec, const std::vector<std::string>& own,
                                            const std::string& gpu) {
  std::map<std::string, std::string> environment;
  for (const std::string& entry : own) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos || !PassesOn(entry.substr(0, equals))) continue;
    environment[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  const int threads = std::clamp(spec.workers().threads_per_rank(), 1, kMaxThreads);
  const bool sixteen_bit = spec.training().precision() == "bf16" || spec.training().precision() == "fp16";
  for (const auto& [name, value] : models::PinnedEnvironment(threads, sixteen_bit)) environment[name] = value;
  environment["CUDA_VISIBLE_DEVICES"] = gpu;
  std::vector<std::string> entries;
  for (const auto& [name, value] : environment) entries.push_back(absl::StrCat(name, "=", value));
  return entries;
}

absl::StatusOr<Launched> LaunchTrainer(const LaunchOptions& options, const NodeFolder& folder,
                                       const v1::DesiredTrainer& desired, const SlotDevice& device,
                                       const std::vector<std::string>& code, double now) {
  TrainerRecord record;
  record.slot = desired.slot();
  const std::string incarnation = RandomHex(kIncarnationBytes);
  record.trainer = absl::StrCat(options.node, "/", record.slot, "/", incarnation);
  record.job_uid = desired.job_uid();
  record.job_name = desired.job_name();
  record.boot_id = common::BootId();
  record.started_at = now;
  record.log = folder.LogFile(desired.job_name(), record.slot, incarnation);
  const std::vector<std::string> command = Command(options, folder, desired, device, record.trainer);
  if (absl::Status there = CheckProgram(desired, command.front()); !there.ok()) return there;
  const absl::Status job_file = WriteJobFile(folder, desired);
  if (!job_file.ok()) return job_file;
  const absl::StatusOr<common::UniqueFd> log = MakeLog(record.log);
  if (!log.ok()) return log.status();

  common::SpawnOptions spawn;
  spawn.argv = command;
  spawn.argv.insert(spawn.argv.end(), code.begin(), code.end());
  spawn.environment = TrainerEnvironment(desired.spec(), common::OwnEnvironment(), device.uuid);
  spawn.output_fd = log->get();
  spawn.new_session = true;
  // The trainer itself raises its share again once it is ready.
  spawn.session_nice = common::kStartNice;
  absl::StatusOr<common::PendingChild> child = common::PendingChild::Start(spawn);
  if (!child.ok()) return child.status();
  record.process = child->identity();
  absl::StatusOr<common::Process> process = common::Process::Open(record.process);
  if (!process.ok()) return process.status();
  absl::StatusOr<common::LifeLock> life = common::LifeLock::Create(common::LifeLockPath(folder.dir(), record.trainer));
  if (!life.ok()) {
    log::Warning("the end of a trainer will be noticed only when its memory is freed",
                 {{"trainer", record.trainer}, {"why", std::string(life.status().message())}});
  }
  const absl::Status recorded = ReplaceFile(folder.RecordFile(record.slot), ToJson(record));
  if (!recorded.ok()) return recorded;
  child->Release();
  Launched launched{.record = std::move(record), .process = *std::move(process), .life = std::nullopt};
  if (life.ok()) launched.life.emplace(*std::move(life));
  return launched;
}

}  // namespace rekindle::agent
