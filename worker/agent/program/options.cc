#include "worker/agent/program/options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <climits>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/agreed/allow_code.h"
#include "common/rpc/rpc.h"
#include "worker/agent/folder/small_file.h"
#include "worker/agent/init/init.h"
#include "worker/data/files/data_roots.h"

namespace rekindle::agent {
namespace {

constexpr size_t kLongestNodeName = 63;

std::string HostName() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, HOST_NAME_MAX) == 0 ? name : "node";
}

std::string CheckNodeName(const std::string& name) {
  if (IsSafeName(name, kLongestNodeName)) return "";
  return absl::StrCat("must be 1 to ", kLongestNodeName, " letters, digits, '.', '_' or '-'");
}

void AddNoticeOptions(CLI::App& app, NoticeOptions& notices) {
  app.add_option("--notices", notices.sources,
                 absl::StrCat("Who says that this machine will be taken: auto, none, or some of ",
                              absl::StrJoin(SourceNames(), ",")))
      ->delimiter(',')
      ->capture_default_str();
  for (const SourceKind* kind : SourceKinds()) {
    if (kind->flag != nullptr) app.add_option(kind->flag, notices.given[kind->name], kind->help);
  }
  app.add_option_function<std::vector<std::string>>(
      "--notice-endpoint",
      [&notices](const std::vector<std::string>& given) {
        for (const std::string& each : given) {
          const size_t equals = each.find('=');
          if (equals == std::string::npos) throw CLI::ValidationError("--notice-endpoint", "must be SOURCE=URL");
          notices.endpoints[each.substr(0, equals)] = each.substr(equals + 1);
        }
      },
      "SOURCE=URL: instead of the documented address, for tests");
}

std::string CheckProgram(const std::string& path) {
  return access(path.c_str(), X_OK) == 0 ? "" : absl::StrCat(path, " is not an executable file");
}

// Accepts the kinds of devices. The help does not name "fake", which only tests use.
CLI::Validator AnyDevice() {
  return CLI::Validator(
      [](const std::string& kind) {
        const bool is_known = kind == kAnyGpus || kind == kNoGpus || kind == kFakeDevices;
        return is_known ? "" : absl::StrCat(kind, " is not ", kAnyGpus, " or ", kNoGpus);
      },
      "{auto,cpu}");
}

// Adds the flags that say which Python runs code of jobs, whether it runs here, and how it is isolated.
void AddCodeFlags(CLI::App& app, AgentOptions& options) {
  app.add_option("--python", options.python,
                 "The Python, with torch 2.4 or newer and the package rekindle, that runs users' own models "
                 "(REKINDLE_NODE_PYTHON)")
      ->envname("REKINDLE_NODE_PYTHON")
      ->check(CheckProgram);
  app.add_option("--allow-code", options.allow_code,
                 "off, on or unisolated: whether jobs may bring code of their own, such as a Python model. Where the "
                 "agent cannot isolate it, it runs only for a coordinator on loopback, or with `unisolated`. Default: "
                 "on for a coordinator on loopback, else off")
      ->check(CLI::IsMember({common::kCodeOff, common::kCodeOn, common::kCodeUnisolated}));
  app.add_option_function<std::string>(
         "--code-uids",
         [&options](const std::string& text) {
           const auto range = user_code::ParseUidRange(text);
           if (!range.ok()) throw CLI::ValidationError("--code-uids", std::string(range.status().message()));
           options.code_uids = *range;
         },
         "FIRST-LAST: user ids that nobody else has, for code of jobs, if the agent runs as root")
      ->default_str(absl::StrCat(options.code_uids.first, "-", options.code_uids.last));
  app.add_option("--code-disk", options.code_disk, "Bytes that the code of one job may write to disks, as 10GiB")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{1} << 20, uint64_t{1} << 50));
  // Only tests use `--isolation-at-most`, so it is hidden from users.
  app.add_option_function<std::string>(
         "--isolation-at-most",
         [&options](const std::string& name) { options.isolation_at_most = *user_code::IsolationOf(name); })
      ->group("")
      ->check(CLI::IsMember({"none", "uid", "uid+landlock"}));
}

// Adds the flags that say how long the agent waits for something.
void AddTimes(CLI::App& app, AgentOptions& options) {
  // Only tests use `--ask-driver-seconds` and `--stuck-seconds`, so they are hidden from users.
  app.add_option("--ask-driver-seconds", options.ask_driver_seconds)->group("")->check(CLI::Range(0.01, 3600.0));
  app.add_option("--stuck-seconds", options.stuck_seconds)->group("")->check(CLI::Range(0.01, 3600.0));
  app.add_option("--drain-seconds", options.drain_seconds, "How long a drain may take after SIGTERM")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 86400.0));
  app.add_option("--stop-grace-seconds", options.stop_grace_seconds, "From a trainer's SIGTERM to its SIGKILL")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 3600.0));
  app.add_option(
         "--end-unless-heard", options.first_heard_seconds,
         "The agent exits with 4 when it hears of no coordinator in its first so many seconds: for machines that "
         "are started by a provider's group; 0: never")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 86400.0));
}

// Adds all flags of the agent but --version.
void AddFlags(CLI::App& app, AgentOptions& options) {
  app.add_option("--dir", options.dir, "The node's own folder; made if missing")->required();
  app.add_option("--coordinator", options.coordinator, "host:port of the coordinator")->required();
  app.add_option("--node", options.node, "Name of the node")->capture_default_str()->check(CheckNodeName);
  app.add_option("--device", options.device,
                 "What trainers compute on: auto (the machine's GPUs, if it has any) or cpu")
      ->capture_default_str()
      ->check(AnyDevice());
  app.add_option("--gpu-share", options.gpu_share, "Trainers that share one GPU: for tests and tiny models")
      ->capture_default_str()
      ->check(CLI::Range(1, kMaxSlots));
  app.add_option("--slots", options.slots, "Trainers it can run; default: one a GPU, or one")
      ->check(CLI::Range(1, kMaxSlots));
  app.add_option(
         "--memory", options.memory_bytes,
         "Bytes that its trainers may use together, as 8GiB; default: all that the machine or its control group has")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{1} << 20, uint64_t{1} << 50));
  app.add_option("--trainer-binary", options.trainer_binary, "Program of the trainers")->capture_default_str();
  app.add_option("--advertise", options.advertise, "Address at which other nodes reach the trainers")
      ->capture_default_str();
  app.add_option("--zone", options.zone,
                 "Failure domain, such as a cloud's zone: copies of checkpoints go to another one");
  app.add_option("--pool", options.pool, "Pool of the coordinator's fleet file that this machine is of: what it costs");
  app.add_option("--metrics", options.metrics,
                 "host:port to serve Prometheus metrics on, beyond loopback by TLS and token; default: none");
  app.add_option("--data-root", options.data_roots,
                 "A folder that jobs may read, where this node's keys and state are never read; may be given several "
                 "times. Default: / for a coordinator on loopback, else /var/lib/rekindle/data");
  AddCodeFlags(app, options);
  AddNoticeOptions(app, options.notices);
  AddTimes(app, options);
}

}  // namespace

std::string OwnProgram() {
  std::error_code error;
  std::string path = std::filesystem::read_symlink("/proc/self/exe", error).string();
  // After an upgrade has replaced the program's file, the link /proc/self/exe ends in " (deleted)". The caller wants
  // the path of the new file.
  static constexpr char kDeleted[] = " (deleted)";
  if (absl::EndsWith(path, kDeleted)) path.resize(path.size() - std::strlen(kDeleted));
  return access(path.c_str(), X_OK) == 0 ? path : "/proc/self/exe";
}

std::optional<AgentOptions> ParseOptions(const std::vector<std::string>& arguments, const std::string& version,
                                         int* exit_code) {
  AgentOptions options;
  options.node = HostName();
  const std::filesystem::path programs = std::filesystem::path(OwnProgram()).parent_path();
  options.trainer_binary = (programs / "rekindle-trainer").string();
  options.own_trainer_binary = (programs / "rekindle-own-trainer").string();

  CLI::App app("Registers this machine as a node and keeps its trainers as the coordinator wants them.",
               "rekindle-worker agent");
  app.footer(
      "SIGTERM drains the node; a second one stops its trainers at once.\n"
      "Run it as `rekindle-worker init`, with the same flags: then it is restarted when it dies.\n"
      "REKINDLE_TLS_CERT, REKINDLE_TLS_KEY, REKINDLE_TLS_CA and REKINDLE_TOKEN_FILE secure the line to the "
      "coordinator, and metrics beyond loopback.\nExit codes: 0 drained, 1 failed, 2 wrong use, 3 refused (no restart "
      "would help), 4 without a coordinator for so long that the machine is to end.");
  app.set_version_flag("--version", version);
  AddFlags(app, options);
  // App::parse() of CLI11 expects the arguments in reverse order.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
    // The Python package has no rekindle-trainer, which needs LibTorch, and trains users' own models without it.
    const std::string unfit = CheckProgram(options.trainer_binary);
    const bool only_own = app.count("--trainer-binary") == 0 && CheckProgram(options.own_trainer_binary).empty();
    if (!unfit.empty() && !only_own) throw CLI::ValidationError("--trainer-binary", unfit);
    if (const absl::Status roots = data::DataRoots::CheckRoots(options.data_roots); !roots.ok()) {
      throw CLI::ValidationError(std::string(roots.message()));
    }
  } catch (const CLI::ParseError& error) {
    *exit_code = app.exit(error) == 0 ? kExitOk : kExitWrongUse;
    return std::nullopt;
  }
  const bool is_loopback = common::IsLoopback(options.coordinator);
  if (options.data_roots.empty()) options.data_roots = {is_loopback ? "/" : data::DataRoots::kUsual};
  if (options.allow_code.empty()) options.allow_code = common::DefaultAllowCode(is_loopback);
  // Links in the path stay, because a virtual environment is known by the path of its interpreter.
  if (!options.python.empty()) options.python = std::filesystem::absolute(options.python).lexically_normal();
  return options;
}

}  // namespace rekindle::agent
