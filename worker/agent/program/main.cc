// Starts rekindle-worker. The command `init` is dispatched before any code of gRPC runs.
#include <cstdio>
#include <string>
#include <vector>

#include "common/agreed/release.h"
#include "worker/agent/init/init.h"
#include "worker/agent/program/agent.h"
#include "worker/agent/program/forget_cluster.h"
#include "worker/agent/program/options.h"
#include "worker/agent/user_code/code_watch.h"
#include "worker/gpus/find_gpus.h"

namespace {

constexpr char kUsage[] =
    "Usage: rekindle-worker init --dir DIR --coordinator HOST:PORT [flags of agent]\n"
    "       rekindle-worker agent --dir DIR --coordinator HOST:PORT [--node NAME] [--slots N] ...\n"
    "       rekindle-worker forget-cluster --dir DIR\n"
    "       rekindle-worker gpus\n\n"
    "  init   main process of a node: keeps an agent running and takes in orphaned trainers; SIGTERM drains\n"
    "  agent  the agent itself; `rekindle-worker agent --help` lists its flags\n"
    "  forget-cluster  makes a node on which nothing runs free to obey another cluster's coordinator\n"
    "  gpus  lists the GPUs that trainers of this machine would compute on, as JSON\n"
    "  --help, --version\n";

}  // namespace

int main(int argc, char** argv) {
  const std::string version = rekindle::common::VersionLine("rekindle-worker");
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string command = arguments.empty() ? "" : arguments[0];
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (command == "init") return rekindle::agent::RunInit(rekindle::agent::OwnProgram(), rest);
  if (command == "agent") {
    int exit_code = 0;
    const std::optional<rekindle::agent::AgentOptions> options =
        rekindle::agent::ParseOptions(rest, version, &exit_code);
    return options ? rekindle::agent::RunAgent(*options) : exit_code;
  }
  if (command == rekindle::agent::kWatchCodeCommand) return rekindle::agent::RunCodeWatch(rest);
  if (command == "gpus") return rekindle::gpus::RunListGpus();
  if (command == "forget-cluster") return rekindle::agent::RunForgetCluster(rest);
  if (command == "--version") {
    std::printf("%s\n", version.c_str());
    return rekindle::agent::kExitOk;
  }
  if (command == "--help" || command == "-h") {
    std::fputs(kUsage, stdout);
    return rekindle::agent::kExitOk;
  }
  std::fprintf(stderr, "rekindle-worker: %s\n\n%s",
               command.empty() ? "a command is missing" : ("unknown command '" + command + "'").c_str(), kUsage);
  return rekindle::agent::kExitWrongUse;
}
