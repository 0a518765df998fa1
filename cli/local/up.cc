// Implements the verb up, which runs the whole of Rekindle on one machine.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/local/program_supervisor.h"
#include "cli/shared/context.h"
#include "common/agreed/allow_code.h"
#include "common/files/file.h"
#include "common/files/home_folder.h"
#include "common/memory/memory_limit.h"
#include "common/net/unix_path.h"
#include "common/process/process.h"
#include "common/spec/flag_values.h"
#include "common/time/clock.h"
#include "coordinator/fleet/providers/local/local_node.h"
#include "coordinator/folder/data_folder.h"
#include "coordinator/web/server/web_file.h"

namespace rekindle::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kStartSeconds = 10;
// `kLongestAddress` limits the address of the web page in bytes. The address contains a token, so it may be long.
constexpr size_t kLongestAddress = 16 << 10;
constexpr auto kPoll = std::chrono::milliseconds(20);

struct Flags {
  int workers = 2;
  std::string dir;
  int port = 7070;
  // `web` is the port of the web page, or "off" for no page. If it is empty, a free port is chosen.
  std::string web;
  std::string fleet;
  std::vector<std::string> pools;
  // `python` is the interpreter for users' own models.
  std::string python;
  // `allow_code` says whether jobs may bring code of their own. If it is empty, they may, because everything is on
  // loopback.
  std::string allow_code;
};

constexpr char kNoPage[] = "off";

std::string DefaultDir() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state) return std::string(state) + "/rekindle";
  if (const std::string home = common::HomeFolder(); !home.empty()) return home + "/.local/state/rekindle";
  return "rekindle-state";
}

// Returns the port `wanted` of loopback if it is free, or any free port if `wanted` is 0. `rekindle up` chooses the
// coordinator's port, because a restarted coordinator must have the same port.
int FreePort(int wanted = 0) {
  const common::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(wanted));
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  socklen_t length = sizeof(address);
  if (!fd.valid() || bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) return 0;
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  return ntohs(address.sin_port);
}

// Chooses the port of the web page: `asked`, or else the port of the last run, which `file` contains, because bookmarks
// and open tabs lead to that port.
int WebPort(const std::string& asked, const std::string& file) {
  int port = 0;
  if (absl::SimpleAtoi(asked, &port) && port != 0) return port;
  const auto before = common::ReadFile(*common::PosixFileSystem(), file, kLongestAddress);
  const std::string begin = "http://127.0.0.1:";
  const bool known =
      before.ok() && absl::StartsWith(*before, begin) &&
      absl::SimpleAtoi(before->substr(begin.size(), before->find('/', begin.size()) - begin.size()), &port);
  const int same = known && port > 0 && port <= 65535 ? FreePort(port) : 0;
  return same != 0 ? same : FreePort();
}

// Waits until the coordinator has written one of its addresses to `file`, which it does once it listens there. `log` is
// the file in which the coordinator says why it does not listen.
absl::StatusOr<std::string> AwaitAddress(const std::string& file, const std::string& log) {
  const double end = common::SteadySeconds() + kStartSeconds;
  while (common::SteadySeconds() < end) {
    auto text = common::ReadFile(*common::PosixFileSystem(), file, kLongestAddress);
    if (text.ok() && !text->empty()) return text->substr(0, text->find('\n'));
    for (const pid_t child : common::Children()) {
      const auto identity = common::Identify(child);
      if (identity.ok() && !identity->Alive()) {
        auto said = common::ReadFile(*common::PosixFileSystem(), log, 1 << 20);
        return absl::FailedPreconditionError("the coordinator did not start:\n" + (said.ok() ? *said : log));
      }
    }
    std::this_thread::sleep_for(kPoll);
  }
  return absl::DeadlineExceededError("the coordinator did not start within 10 s; see " + log);
}

absl::Status StartNode(ProgramSupervisor& supervisor, const std::string& root, const fleet::LocalNode& node) {
  if (absl::Status status = fleet::MakeFolder(node.folder); !status.ok()) return status;
  const std::string log = root + "/logs/" + node.name;
  absl::Status status = supervisor.Start({.name = node.name + " checkpoint service",
                                          .argv = fleet::CheckpointCommand(node),
                                          .log = log + "-checkpoint.log",
                                          .group = node.name});
  if (!status.ok()) return status;
  return supervisor.Start({.name = node.name + " worker",
                           .argv = fleet::WorkerCommand(node),
                           .log = log + "-worker.log",
                           .group = node.name,
                           .essential = true});
}

// Kills the nodes of local pools that a coordinator has left running because it was killed itself.
void EndMachines(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> nodes;
  for (const auto& node : std::filesystem::directory_iterator(folder, error)) nodes.push_back(node.path());
  for (const std::string& node : nodes) fleet::KillNode(node);
}

// Removes files that would be taken for output of the coordinator that is about to start. It fails if a coordinator
// runs, started by hand or left by a killed `rekindle up`, because the files belong to that coordinator.
absl::Status RemoveLeftovers(const std::string& root) {
  const auto held = coordinator::DataFolder::Open(root + "/coordinator", {.holder = "a coordinator", .flag = "--dir"});
  if (!held.ok()) return held.status();
  if (absl::Status status = fleet::MakeFolder(root + "/logs"); !status.ok()) return status;
  std::error_code error;
  std::filesystem::remove(held->File("endpoint"), error);
  std::filesystem::remove(coordinator::web::WebFile(held->path()), error);
  std::filesystem::remove(root + "/logs/coordinator.log", error);
  return absl::OkStatus();
}

std::string WithoutToken(const std::string& address) { return address.substr(0, address.find('#')); }

// Returns the line with the address of the web page. It hides the token unless stdout is a terminal. Anything else may
// be a log, which must not contain a token.
std::string DescribePage(const std::string& address, const std::string& file) {
  if (address.empty()) return "";
  if (isatty(STDOUT_FILENO)) return absl::StrCat("\nsee it at:     ", address);
  return absl::StrCat("\nsee it at:     ", WithoutToken(address), " (open the address in ", file,
                      ": it has the token)");
}

// Checks the length of the path of the folder. Nodes have sockets in their folders, and with a longer path they would
// end as soon as they begin. Throws CLI::ValidationError (wrong use).
void CheckLength(const std::string& root, const Flags& flags) {
  std::error_code error;
  // Links are resolved first, because nodes use the resolved path of their folder.
  const std::string resolved = std::filesystem::weakly_canonical(root, error);
  const std::string node = flags.workers > 0 ? "/nodes/n" + std::to_string(flags.workers) : "/coordinator/nodes/p-1";
  const size_t below = node.size() + common::kLongestNodeSocket.size();
  const std::string& path = error ? root : resolved;
  if (path.size() + below <= common::kLongestUnixPath) return;
  throw CLI::ValidationError("--dir", path + " has " + std::to_string(path.size()) +
                                          " bytes, and the paths of Unix sockets below it have room for " +
                                          std::to_string(common::kLongestUnixPath - below) + ": use a shorter folder");
}

// Returns the absolute path of the interpreter for users' own models, or nothing. Machines of local pools inherit it
// from the coordinator, in a variable of this process's environment. Throws CLI::ValidationError (wrong use) if it
// cannot be run.
std::string TakePython(const Flags& flags) {
  if (flags.python.empty()) return "";
  if (access(flags.python.c_str(), X_OK) != 0) {
    throw CLI::ValidationError("--python", flags.python + " is not an executable file: name a Python interpreter");
  }
  // Links in the path stay, because a virtual environment is known by the path of its interpreter.
  const std::string python = std::filesystem::absolute(flags.python).lexically_normal();
  setenv(fleet::kPythonVariable, python.c_str(), 1);
  return python;
}

// Returns whether a command in another terminal needs no --endpoint to call the coordinator at `endpoint`.
bool IsWhereCommandsLook(const std::string& endpoint) {
  const auto connection = ResolveConnection({});
  return connection.ok() && connection->endpoint == endpoint;
}

std::vector<std::string> CoordinatorCommand(const Flags& flags, const std::string& root, int port, int web_port) {
  std::vector<std::string> argv = {fleet::Beside() / "rekindle-coordinator", "--data", root + "/coordinator",
                                   "--listen", "127.0.0.1:" + std::to_string(port)};
  if (!flags.fleet.empty()) {
    argv.insert(argv.end(), {"--fleet", std::filesystem::absolute(flags.fleet), "--end-local-machines"});
  }
  if (web_port != 0) argv.insert(argv.end(), {"--web", absl::StrCat("127.0.0.1:", web_port)});
  if (!flags.allow_code.empty()) argv.insert(argv.end(), {"--allow-code", flags.allow_code});
  return argv;
}

absl::Status Up(Context& context, const Flags& flags) {
  auto signals = common::OpenSignalFd({SIGTERM, SIGINT});
  if (!signals.ok()) return signals.status();
  // The umask lets only this user read the files that this process makes. The programs that the process starts inherit
  // the umask.
  umask(0077);
  const std::string root = std::filesystem::absolute(flags.dir);
  CheckLength(root, flags);
  const std::string python = TakePython(flags);
  // The lock on the folder is taken before anything in the folder is changed. The folder may belong to another
  // `rekindle up`, which must not be disturbed.
  const auto held = coordinator::DataFolder::Open(root, {.holder = "another `rekindle up`", .flag = "--dir"});
  if (!held.ok()) return held.status();
  const std::string web_file = coordinator::web::WebFile(root + "/coordinator");
  const int web_port = flags.web == kNoPage ? 0 : WebPort(flags.web, web_file);
  if (absl::Status status = RemoveLeftovers(root); !status.ok()) return status;
  const int port = flags.port != 0 ? flags.port : FreePort();
  const std::string endpoint_file = root + "/coordinator/endpoint";
  ProgramSupervisor supervisor(root);
  std::vector<std::string> argv = CoordinatorCommand(flags, root, port, web_port);
  absl::Status status =
      supervisor.Start({.name = "coordinator", .argv = std::move(argv), .log = root + "/logs/coordinator.log"});
  if (!status.ok()) return status;
  const auto endpoint = AwaitAddress(endpoint_file, root + "/logs/coordinator.log");
  if (!endpoint.ok()) return endpoint.status();
  std::string page;
  if (web_port != 0) {
    absl::StatusOr<std::string> address = AwaitAddress(web_file, root + "/logs/coordinator.log");
    if (!address.ok()) return address.status();
    page = *std::move(address);
  }
  const auto memory = common::ReadMemory();
  if (!memory.ok()) return memory.status();
  const double share = memory->total / std::max(1, flags.workers);
  for (int i = 1; i <= flags.workers; ++i) {
    const std::string pool = flags.pools.empty() ? "" : flags.pools[static_cast<size_t>(i - 1) % flags.pools.size()];
    const std::string name = "n" + std::to_string(i);
    status = StartNode(supervisor, root,
                       {.folder = root + "/nodes/" + name,
                        .name = name,
                        .coordinator = *endpoint,
                        .pool = pool,
                        .memory = share,
                        .python = python,
                        .allow_code = flags.allow_code});
    if (!status.ok()) return status;
  }
  if (context.json()) {
    const Json said = {{"endpoint", *endpoint}, {"web", WithoutToken(page)}, {"dir", root}};
    std::cout << said.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  } else {
    std::cout << "coordinator at " << *endpoint << ", " << flags.workers << " workers, everything under " << root
              << DescribePage(page, web_file) << "\nsubmit a job:  rekindle submit examples/gpt-text.yaml --wait"
              << (IsWhereCommandsLook(*endpoint) ? "" : "  --endpoint " + *endpoint)
              << "\nstop with Ctrl-C; the same command goes on with the same jobs" << std::endl;
  }
  status = supervisor.RunUntilSignal(signals->get());
  EndMachines(root + "/coordinator/nodes");
  return status;
}

}  // namespace

void AddUpVerb(CLI::App& app, Context& context) {
  auto flags = std::make_shared<Flags>();
  flags->dir = DefaultDir();
  CLI::App* verb =
      app.add_subcommand("up", "Run a coordinator and some workers on this machine, and keep them running");
  verb->add_option("--workers", flags->workers,
                   "Nodes, one trainer each; 0 where the fleet file has local pools with machines")
      ->check(common::WholeNumber(0, 64))
      ->capture_default_str();
  verb->add_option("--dir", flags->dir, "Folder for all state and logs")->type_name("DIR")->capture_default_str();
  verb->add_option("--port", flags->port, "Of the coordinator, on loopback; 0: any")
      ->check(common::WholeNumber(0, 65535))
      ->capture_default_str();
  verb->add_option("--web", flags->web,
                   "Port of the web page, on loopback, or `off`; default: a free one, the same as last time")
      ->type_name("PORT")
      ->check([](const std::string& text) -> std::string {
        int port = 0;
        const bool fits = text == kNoPage || (absl::SimpleAtoi(text, &port) && port >= 0 && port <= 65535);
        return fits ? "" : "'" + text + "' must be a port, 0 to 65535, or off";
      });
  verb->add_option("--fleet", flags->fleet, "Fleet file with what nodes cost (docs/costs.md)")->type_name("FILE");
  verb->add_option("--pool", flags->pools, "Pool of the fleet file that the workers are of; given twice: in turn");
  verb->add_option("--python", flags->python, "The Python, with torch and the package rekindle, for your own models")
      ->type_name("PATH");
  verb->add_option("--allow-code", flags->allow_code,
                   "off, on or unisolated: whether jobs may bring code of their own; default: on")
      ->check(CLI::IsMember({common::kCodeOff, common::kCodeOn, common::kCodeUnisolated}));
  context.OnRun(verb, [flags, &context] { return Up(context, *flags); });
}

}  // namespace rekindle::cli
