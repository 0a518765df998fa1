// up: the whole of Rekindle on one machine.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include "cli/context.h"
#include "cli/supervisor.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/memory.h"
#include "common/process.h"
#include "coordinator/data_folder.h"
#include "coordinator/fleet/providers/local_node.h"

namespace rekindle::cli {
namespace {

constexpr double kStartSeconds = 10;
constexpr auto kPoll = std::chrono::milliseconds(20);

struct Flags {
  int workers = 2;
  std::string dir;
  int port = 7070;
  std::string fleet;
  std::vector<std::string> pools;
};

std::string DefaultDir() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state && *state) return std::string(state) + "/rekindle";
  if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.local/state/rekindle";
  return "rekindle-state";
}

// Restarts must find the same port, so a free one is chosen here rather than by the coordinator.
int FreePort() {
  const common::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  if (!fd.valid() || bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) return 0;
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  return ntohs(address.sin_port);
}

// The coordinator writes its address once it listens. `log`: where it says why it does not.
absl::StatusOr<std::string> AwaitEndpoint(const std::string& file, const std::string& log) {
  const double end = common::SteadySeconds() + kStartSeconds;
  while (common::SteadySeconds() < end) {
    auto text = common::ReadFile(*common::PosixFileSystem(), file, 256);
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

absl::Status StartNode(Supervisor& supervisor, const std::string& root, const fleet::LocalNode& node) {
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

// What a coordinator that was killed has left.
void EndMachines(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> nodes;
  for (const auto& node : std::filesystem::directory_iterator(folder, error)) nodes.push_back(node.path());
  for (const std::string& node : nodes) fleet::KillNode(node);
}

// What would be taken for words of the coordinator that is to start. Refused where one runs, started by hand or left by
// an `up` that was killed: the words are its own.
absl::Status RemoveLeftovers(const std::string& root) {
  const auto held = coordinator::DataFolder::Open(root + "/coordinator", {.holder = "a coordinator", .flag = "--dir"});
  if (!held.ok()) return held.status();
  if (absl::Status status = fleet::MakeFolder(root + "/logs"); !status.ok()) return status;
  std::error_code error;
  std::filesystem::remove(held->File("endpoint"), error);
  std::filesystem::remove(root + "/logs/coordinator.log", error);
  return absl::OkStatus();
}

absl::Status Up(Context& context, const Flags& flags) {
  auto signals = common::OpenSignalFd({SIGTERM, SIGINT});
  if (!signals.ok()) return signals.status();
  const std::string root = std::filesystem::absolute(flags.dir);
  // Before anything in it is touched: it may be that of another one, which goes on.
  const auto held = coordinator::DataFolder::Open(root, {.holder = "another `rekindle up`", .flag = "--dir"});
  if (!held.ok()) return held.status();
  if (absl::Status status = RemoveLeftovers(root); !status.ok()) return status;
  const int port = flags.port != 0 ? flags.port : FreePort();
  const std::string endpoint_file = root + "/coordinator/endpoint";
  Supervisor supervisor(root);
  std::vector<std::string> argv = {fleet::Beside() / "rekindle-coordinator", "--data", root + "/coordinator",
                                   "--listen", "127.0.0.1:" + std::to_string(port)};
  if (!flags.fleet.empty()) {
    argv.insert(argv.end(), {"--fleet", std::filesystem::absolute(flags.fleet), "--end-local-machines"});
  }
  absl::Status status =
      supervisor.Start({.name = "coordinator", .argv = std::move(argv), .log = root + "/logs/coordinator.log"});
  if (!status.ok()) return status;
  const auto endpoint = AwaitEndpoint(endpoint_file, root + "/logs/coordinator.log");
  if (!endpoint.ok()) return endpoint.status();
  const auto memory = common::ReadMemory();
  if (!memory.ok()) return memory.status();
  const double share = memory->total / std::max(1, flags.workers);
  for (int i = 1; i <= flags.workers; ++i) {
    const std::string pool = flags.pools.empty() ? "" : flags.pools[static_cast<size_t>(i - 1) % flags.pools.size()];
    const std::string name = "n" + std::to_string(i);
    status = StartNode(
        supervisor, root,
        {.folder = root + "/nodes/" + name, .name = name, .coordinator = *endpoint, .pool = pool, .memory = share});
    if (!status.ok()) return status;
  }
  if (context.json()) {
    std::cout << "{\"endpoint\": \"" << *endpoint << "\", \"dir\": \"" << root << "\"}" << std::endl;
  } else {
    std::cout << "coordinator at " << *endpoint << ", " << flags.workers << " workers, everything under " << root
              << "\nsubmit a job:  rekindle submit examples/gpt-text.yaml --wait"
              << (flags.port == 7070 ? "" : "  --endpoint " + *endpoint)
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
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  verb->add_option("--dir", flags->dir, "Folder for all state and logs")->capture_default_str();
  verb->add_option("--port", flags->port, "Of the coordinator, on loopback; 0: any")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  verb->add_option("--fleet", flags->fleet, "Fleet file with what nodes cost (docs/costs.md)");
  verb->add_option("--pool", flags->pools, "Pool of the fleet file that the workers are of; given twice: in turn");
  context.OnRun(verb, [flags, &context] { return Up(context, *flags); });
}

}  // namespace rekindle::cli
