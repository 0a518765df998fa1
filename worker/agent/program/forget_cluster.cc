#include "worker/agent/program/forget_cluster.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "common/process/process.h"
#include "worker/agent/folder/node_folder.h"
#include "worker/agent/folder/small_file.h"
#include "worker/agent/folder/trainer_record.h"
#include "worker/agent/init/init.h"

namespace rekindle::agent {
namespace {

absl::Status CheckNothingRuns(const NodeFolder& folder) {
  for (const std::string& name : ListFolder(folder.RecordFolder())) {
    const auto text = ReadSmallFile(absl::StrCat(folder.RecordFolder(), "/", name), kMaxRecordBytes);
    const auto record = text.ok() ? FromJson(*text) : text.status();
    if (!record.ok() || record->boot_id != common::BootId()) continue;
    if (!common::Process::Open(record->process).ok()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("trainer ", record->trainer, " of job ", record->job_name, " still runs, as process ",
                     record->process.pid, ": its job may go on where its cluster's coordinator comes back. Cancel the ",
                     "job there, or stop that process first"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ForgetCluster(const std::string& dir) {
  if (ReadSmallFile(dir + "/node.json", kMaxRecordBytes).status().code() == absl::StatusCode::kNotFound) {
    return absl::NotFoundError(absl::StrCat(dir, " is no node's folder: it has no node.json"));
  }
  const absl::StatusOr<NodeFolder> folder = NodeFolder::Open(dir, /*lock_wait_seconds=*/0);
  if (absl::IsAlreadyExists(folder.status())) {
    return absl::FailedPreconditionError(absl::StrCat("the agent of ", dir, " runs: stop rekindle-worker first"));
  }
  if (!folder.ok()) return folder.status();
  if (absl::Status status = CheckNothingRuns(*folder); !status.ok()) return status;
  RemoveFile(folder->ClusterFile());
  return absl::OkStatus();
}

int RunForgetCluster(const std::vector<std::string>& arguments) {
  CLI::App app(
      "Makes a node free to obey the coordinator of another cluster: the one that answers it next. Nothing may "
      "run on the node.",
      "rekindle-worker forget-cluster");
  std::string dir;
  app.add_option("--dir", dir, "the node's folder, as given to `rekindle-worker init`")->required();
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitWrongUse;
  }
  const absl::Status status = ForgetCluster(dir);
  if (status.ok()) {
    std::printf("the node in %s belongs to no cluster now\n", dir.c_str());
    return kExitOk;
  }
  std::fprintf(stderr, "rekindle-worker: %s\n", std::string(status.message()).c_str());
  return kExitFailed;
}

}  // namespace rekindle::agent
