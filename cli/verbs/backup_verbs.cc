// Implements the verbs backup and restore.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/shared/context.h"
#include "cli/text/job_text.h"
#include "cli/text/number_text.h"
#include "cli/text/safe_text.h"
#include "cli/verbs/restored_folder.h"
#include "common/files/file.h"
#include "common/spec/flag_values.h"
#include "coordinator/restoring/backup_file.h"
#include "coordinator/restoring/restore.h"

namespace rekindle::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BackupFlags {
  std::string file;
  bool force = false;
  double within = 3600;
};

absl::Status IsThere(const std::string& path) {
  return absl::AlreadyExistsError(path + " is there already: give another name, or --force to replace it");
}

absl::Status CheckTarget(const std::string& path, bool force) {
  struct stat info = {};
  if (lstat(path.c_str(), &info) != 0) return absl::OkStatus();
  if (!force) return IsThere(path);
  if (S_ISREG(info.st_mode)) return absl::OkStatus();
  return absl::FailedPreconditionError(path + " is not a regular file: give another name");
}

// Receives the backup's bytes and checks them as they arrive.
absl::StatusOr<coordinator::BackupHeader> Receive(Context& context, double within, common::WritableFile& file) {
  grpc::ClientContext call;
  call.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(static_cast<int64_t>(within * 1e3)));
  const auto stream = context.coordinator().Backup(&call, v1::BackupRequest());
  coordinator::BackupReader reader([](std::string_view) { return absl::OkStatus(); });
  absl::Status status;
  v1::BackupChunk chunk;
  while (status.ok() && stream->Read(&chunk)) {
    status = reader.Take(chunk.data());
    if (status.ok()) status = file.Append(chunk.data().data(), chunk.data().size());
  }
  if (!status.ok()) call.TryCancel();
  const grpc::Status ended = stream->Finish();
  if (!status.ok()) return status;
  if (ended.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return absl::AbortedError("the backup took longer than " + Fixed(within, 0) + " s: allow more by --within");
  }
  if (ended.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
    return absl::FailedPreconditionError("the coordinator is of a release that makes no backups: upgrade it");
  }
  if (!ended.ok()) return context.Check(ended);
  return reader.Finish();
}

// Gives the unfinished backup file its final name. Without `force` an existing file of that name is not replaced, not
// even one that was created while the backup was written.
absl::Status Place(const std::string& unfinished, const std::string& path, bool force) {
  if (force) return common::PosixFileSystem()->Rename(unfinished, path);
  if (renameat2(AT_FDCWD, unfinished.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return absl::OkStatus();
  // Some file systems do not support RENAME_NOREPLACE. On these the file gets its final name by a link, which does not
  // replace an existing file either, and its unfinished name is removed.
  if (errno == EINVAL && link(unfinished.c_str(), path.c_str()) == 0) {
    return common::PosixFileSystem()->Remove(unfinished);
  }
  return errno == EEXIST ? IsThere(path) : common::ErrnoStatus(errno, "cannot create", path);
}

absl::StatusOr<coordinator::BackupHeader> WriteBackup(Context& context, const BackupFlags& flags,
                                                      const std::string& path) {
  const std::string unfinished = common::TemporaryName(path);
  auto file = common::PosixFileSystem()->Create(unfinished);
  if (!file.ok()) return file.status();
  absl::StatusOr<coordinator::BackupHeader> header = Receive(context, flags.within, **file);
  absl::Status written = header.status();
  if (written.ok()) written = (*file)->Sync();
  const absl::Status closed = (*file)->Close();
  if (written.ok()) written = closed;
  if (written.ok()) written = Place(unfinished, path, flags.force);
  if (!written.ok()) {
    common::PosixFileSystem()->Remove(unfinished).IgnoreError();
    return written;
  }
  if (absl::Status synced = common::PosixFileSystem()->SyncDir(common::DirName(path)); !synced.ok()) return synced;
  return header;
}

absl::Status Backup(Context& context, const BackupFlags& flags) {
  const std::string path = std::filesystem::absolute(flags.file).lexically_normal();
  if (absl::Status target = CheckTarget(path, flags.force); !target.ok()) return target;
  const auto header = WriteBackup(context, flags, path);
  if (!header.ok()) return header.status();
  if (context.json()) {
    std::cout << Json{{"file", path},
                      {"bytes", header->bytes},
                      {"cluster", header->identity.cluster},
                      {"epoch", header->identity.epoch},
                      {"taken_at", header->taken_at},
                      {"release", header->release}}
                     .dump(1, ' ', false, Json::error_handler_t::replace)
              << "\n";
  } else {
    std::cout << path << ": cluster " << header->identity.cluster << " in epoch " << header->identity.epoch << ", "
              << Short(static_cast<double>(header->bytes)) << " bytes. It holds the secrets of all jobs.\n";
  }
  return absl::OkStatus();
}

void AddBackup(CLI::App& app, Context& context) {
  auto flags = std::make_shared<BackupFlags>();
  CLI::App* verb = app.add_subcommand("backup", "Copy the running coordinator's state into a file, for `restore`");
  verb->footer("The file holds the secrets of all jobs; only its owner can read it.");
  verb->add_option("FILE", flags->file, "Where the backup goes")->required();
  verb->add_flag("--force", flags->force, "Replace FILE if it is there");
  verb->add_option("--within", flags->within, "Give up after so long: 30s, 10m; default: 1h")
      ->transform(common::Seconds(1, 1e6));
  context.OnRun(verb, [flags, &context] { return Backup(context, *flags); });
}

void PrintRestored(const coordinator::Restored& restored) {
  const coordinator::BackupHeader& backup = restored.backup;
  std::string jobs;
  for (const auto& [state, count] : restored.jobs) {
    jobs += (jobs.empty() ? "" : ", ") + std::to_string(count) + " " + StateName(state);
  }
  std::cout << "restored cluster " << restored.identity.cluster << " into " << restored.data << "\n"
            << "the backup is of " << LocalTime(static_cast<double>(backup.taken_at)) << ", made by release "
            << Printable(backup.release) << " in epoch " << backup.identity.epoch << "; epoch "
            << restored.identity.epoch << " begins\n"
            << "jobs: " << (jobs.empty() ? "none" : jobs) << "\n"
            << HowToStartOn(restored.data);
}

absl::Status Restore(Context& context, const std::string& file, const std::string& data) {
  const auto restored = coordinator::RestoreBackup(std::filesystem::absolute(file).lexically_normal(), data);
  if (!restored.ok()) return restored.status();
  if (!context.json()) {
    PrintRestored(*restored);
    return absl::OkStatus();
  }
  Json jobs = Json::object();
  for (const auto& [state, count] : restored->jobs) jobs[StateName(state)] = count;
  std::cout << Json{{"data", restored->data},
                    {"cluster", restored->identity.cluster},
                    {"epoch_before", restored->backup.identity.epoch},
                    {"epoch", restored->identity.epoch},
                    {"taken_at", restored->backup.taken_at},
                    {"release", restored->backup.release},
                    {"jobs", jobs}}
                   .dump(1, ' ', false, Json::error_handler_t::replace)
            << "\n";
  return absl::OkStatus();
}

void AddRestore(CLI::App& app, Context& context) {
  struct Flags {
    std::string file, data;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("restore", "Make a coordinator's data folder from a backup; asks no coordinator");
  verb->footer(
      "A new epoch of the cluster begins: a coordinator that still runs on what was backed up is not obeyed then.");
  verb->add_option("FILE", flags->file, "What `rekindle backup` wrote")->required();
  verb->add_option("--data", flags->data, "The folder; it must be empty, or not be there")
      ->required()
      ->type_name("DIR");
  context.OnRun(verb, [flags, &context] { return Restore(context, flags->file, flags->data); });
}

}  // namespace

void AddBackupVerbs(CLI::App& app, Context& context) {
  AddBackup(app, context);
  AddRestore(app, context);
}

}  // namespace rekindle::cli
