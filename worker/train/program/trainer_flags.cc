#include "worker/train/program/trainer_flags.h"

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "common/agreed/release.h"
#include "common/rpc/rpc.h"

namespace rekindle::train {

std::optional<Flags> ParseFlags(const char* program, int argc, char** argv, int* exit_code) {
  Flags flags;
  CLI::App app(absl::StrCat(program, ": one rank of one job. The agent (rekindle-worker) starts it."));
  app.set_version_flag("--version", common::VersionLine(program));
  app.add_option("--job-file", flags.job_file, "Resolved job and its secret, as the agent wrote it")->required();
  app.add_option("--dir", flags.dir, "The node's folder")->required();
  app.add_option("--coordinator", flags.coordinator, "host:port")->required();
  app.add_option("--node", flags.node, "Name of the node")->required();
  app.add_option("--trainer", flags.trainer, "Identity of this process: node/slot/incarnation")->required();
  app.add_option("--listen", flags.listen, "Address of the data plane that peers can reach")->capture_default_str();
  app.add_option("--device", flags.device, "What it computes on: cpu, or cuda for the process's first GPU")
      ->capture_default_str()
      ->check(CLI::IsMember({kCpuDevice, kCudaDevice, kFakeDevice}));
  app.add_option("--memory", flags.memory, "Bytes that it may use; 0: all that the machine has");
  app.add_option("--device-memory", flags.device_memory, "Bytes of its GPU that it may use; 0: all that the GPU has");
  app.add_option("--data-root", flags.data_roots, "A folder that the job may read; none: it reads nothing");
  app.add_option("--python", flags.python, "The Python that runs users' own models");
  app.add_option("--isolation", flags.isolation, "How the job's own code is isolated: none, uid or uid+landlock")
      ->check(CLI::IsMember({"none", "uid", "uid+landlock"}));
  app.add_option("--code-uid", flags.code_uid, "The user id of the job's own code");
  app.add_option("--code-folder", flags.code_folder, "The folder of the job's own code");
  app.add_option("--task-folder", flags.task_folder, "The folder with the module of the job's own code");
  app.add_option("--warm", flags.warm, "The socket of the process that has the imports of the job's own code");
  // Trials of micro-batch sizes are started with `--try-micro-batch` and `--result` (see micro_batch/device_search.h).
  // These flags are hidden from users.
  app.add_option("--try-micro-batch", flags.try_micro_batch)->group("");
  app.add_option("--result", flags.result)->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    *exit_code = app.exit(error) == 0 ? 0 : 2;
    return std::nullopt;
  }
  return flags;
}

absl::StatusOr<TrainerJob> LoadJob(const Flags& flags, int micro_batch) {
  absl::StatusOr<TrainerJob> job = LoadJobFile(flags.job_file, micro_batch);
  if (!job.ok()) return job;
  // The job must not read the files with the node's keys and token, because it could then act as this node. So these
  // files are withheld from the job. The node's folder need not be named, because it marks itself as a state folder,
  // which no job may read.
  const common::Security keys = common::Security::FromEnvironment();
  job->data.roots = data::DataRoots(flags.data_roots, {keys.tls_cert, keys.tls_key, keys.tls_ca, keys.token_file});
  return job;
}

std::vector<std::string> OwnCommand(const Flags& flags) {
  std::vector<std::string> command = {
      "/proc/self/exe",  "--job-file",      flags.job_file,
      "--dir",           flags.dir,         "--coordinator",
      flags.coordinator, "--node",          flags.node,
      "--trainer",       flags.trainer,     "--device",
      flags.device,      "--device-memory", absl::StrCat(static_cast<int64_t>(flags.device_memory))};
  if (!flags.python.empty()) command.insert(command.end(), {"--python", flags.python});
  for (const std::string& root : flags.data_roots) command.insert(command.end(), {"--data-root", root});
  if (!flags.code_folder.empty()) {
    command.insert(command.end(), {"--isolation", flags.isolation, "--code-uid", absl::StrCat(flags.code_uid),
                                   "--code-folder", flags.code_folder, "--task-folder", flags.task_folder});
  }
  return command;
}

}  // namespace rekindle::train
